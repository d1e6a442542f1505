// SPDX-License-Identifier: Apache-2.0
#include "core/passes/taking_rights.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include "core/gangs/lightest.h"

namespace tutti::core {

using base::Millis;
using model::PodId;
using queue::QueueId;
using What = VictimUnit::What;

namespace {

// Not if one of its members says that no pod is to be evicted for it, nor if its profile says so of all.
bool MayTakeAtAll(const Options& options, const cluster::ClusterState& state, const GangBook& book, const Gang& gang) {
  const framework::Profile* profile = framework::FindProfile(options.profiles, book.SchedulerName(gang));
  return profile && profile->preemption && std::ranges::none_of(gang.members, [&state](const Member* member) {
           return state.pod(member->pod).pod->spec->never_preempts;
         });
}

}  // namespace

TakingRights::TakingRights(const Options& options, const cluster::ClusterState& state, GangBook& book, Queues& queues,
                           const QueueAdmission& admission, const base::Clock& clock, model::GangId id,
                           const Census& census, const Requirement& requirement, std::function<bool(PodId)> lets_go)
    : state_(state),
      book_(book),
      queues_(queues),
      admission_(admission),
      clock_(clock),
      rule_(options.queue_rule),
      gang_(book.at(id)),
      census_(census),
      requirement_(requirement),
      lets_go_(std::move(lets_go)),
      priority_(book.Priority(gang_)),
      queue_(gang_.spec.queue.empty() ? QueueId() : queues.tree().Find(QueueOf(gang_))) {
  using GangPreemption = Options::GangPreemption;
  if (gang_.lone || !requirement.reachable() || !MayTakeAtAll(options, state, book, gang_)) return;
  within_queue_ = options.gang_preemption == GangPreemption::kWithinQueue;
  by_priority_ = options.gang_preemption != GangPreemption::kNever && (!within_queue_ || queue_.valid());
  if (!queue_.valid()) return;
  shares_decide_ = rule_.reclaim;
  std::set<std::string_view> resources{model::kPods};
  for (const Member* member : census.pending)
    for (const auto& [name, amount] : state.pod(member->pod).pod_class->spec->requests) resources.insert(name);
  model::ResourceList ask = LeastWeight(census.pending, requirement, state, resources);
  ask_ = queue::Ask(queues.tree().cells(), ask);
  by_share_ = shares_decide_ && queues.rules().MayTake(queue_, ask_);
  if (requirement.have == 0 && gang_.spec.min_resources) ask.MaxAll(*gang_.spec.min_resources);
  for (const auto& shortage : queues.rules().Admit(queue_, queue::Ask(queues.tree().cells(), ask)).shortages)
    short_.emplace_back(shortage.queue, shortage.cell);
}

int32_t TakingRights::below() const { return by_share_ ? std::numeric_limits<int32_t>::max() : priority_; }

void TakingRights::SetAsk(const std::vector<cluster::Placement>& placements) {
  model::ResourceList sum;
  for (const cluster::Placement& placement : placements) sum.AddAll(WeightOf(*placement.pod_class));
  ask_ = queue::Ask(queues_.tree().cells(), sum);
}

const QueueCharge* TakingRights::HeldBy(PodId pod) const {
  const model::MemberId id = book_.member_of(pod);
  if (!id.valid()) return nullptr;
  const QueueCharge& held = book_.at(id).held;
  return held.as ? &held : nullptr;
}

QueueId TakingRights::QueueOfUnit(const VictimUnit& unit) const {
  for (const PodId pod : unit.pods)
    if (const QueueCharge* held = HeldBy(pod); held && !taken_.contains(pod)) return queues_.used().queue(held->id);
  return {};
}

bool TakingRights::IsOfOtherQueue(const VictimUnit& unit) const {
  const QueueId giver = shares_decide_ ? QueueOfUnit(unit) : QueueId();
  return giver.valid() && giver != queue_;
}

bool TakingRights::MayTake(const VictimUnit& unit) {
  if (unit.what == What::kLeaving) return true;
  // Which of two gangs with quota goes is decided where quota is given (QuotaPass).
  if (gang_.quota && unit.gang && book_.at(unit.gang).quota) return false;
  const QueueId giver = QueueOfUnit(unit);
  if (shares_decide_ && giver.valid() && giver != queue_) return by_share_ && MayReclaim(unit, giver);
  return by_priority_ && unit.priority < priority_ && (!within_queue_ || giver == queue_);
}

bool TakingRights::MayReclaim(const VictimUnit& unit, QueueId giver) {
  queue::Ledger& used = queues_.used();
  bool may = false;
  if (unit.pods.size() == 1) {
    may = queues_.rules().MayTakeFrom(queue_, ask_, giver, used.amounts(HeldBy(unit.pods.front())->id));
  } else {
    std::vector<queue::CellAmount> sum;
    for (const PodId pod : unit.pods)
      if (const QueueCharge* held = HeldBy(pod); held && !taken_.contains(pod))
        for (const queue::CellAmount& amount : used.amounts(held->id)) {
          const auto at = std::ranges::find(sum, amount.cell, &queue::CellAmount::cell);
          if (at == sum.end())
            sum.push_back(amount);
          else
            at->amount += amount.amount;
        }
    may = queues_.rules().MayTakeFrom(queue_, ask_, giver, queue::Ask(queues_.tree().cells(), std::move(sum)));
  }
  return may && HasRunLongEnough(unit, giver);
}

// A gang that goes as a whole has run since its oldest member is there, other pods since they are themselves.
bool TakingRights::HasRunLongEnough(const VictimUnit& unit, QueueId giver) {
  const model::GangSpec& spec = book_.at(unit.gang).spec;
  const Millis least =
      spec.min_runtime_ms.value_or(queues_.tree().spec(giver).min_runtime_ms.value_or(rule_.min_runtime_ms));
  if (least == 0) return true;
  Millis since_ms = unit.since_ms;
  if (unit.what == What::kGang)
    for (const PodId pod : unit.pods)
      if (const Millis bound_ms = state_.pod(pod).pod->bound_ms; bound_ms != 0) since_ms = std::min(since_ms, bound_ms);
  const Millis left = since_ms + least - clock_.WallMs();
  if (left <= 0) return true;
  const Millis at = clock_.MonotonicMs() + left;
  again_ms_ = again_ms_ == 0 ? at : std::min(again_ms_, at);
  return false;
}

void TakingRights::Take(const VictimUnit& unit) {
  queue::Ledger& used = queues_.used();
  for (const PodId pod : unit.pods)
    if (const QueueCharge* held = HeldBy(pod); held && taken_.insert(pod).second) {
      if (!mark_) mark_ = used.Here();
      used.Release(held->id);
    }
}

void TakingRights::GiveAllBack() {
  if (mark_) queues_.used().Rewind(*std::exchange(mark_, std::nullopt));
  taken_.clear();
}

bool TakingRights::QueueTakesGang() const {
  return short_.empty() || admission_.ToStart(gang_, census_, requirement_).admitted();
}

bool TakingRights::MakesRoomInQueue(const VictimUnit& unit) const {
  const queue::QueueTree& tree = queues_.tree();
  return std::ranges::any_of(short_, [&](const auto& lack) {
    QueueId at = QueueOfUnit(unit);
    while (at.valid() && at != lack.first) at = tree.parent(at);
    return at.valid() && std::ranges::any_of(unit.pods, [&](PodId pod) {
             const QueueCharge* held = HeldBy(pod);
             return held && queues_.used().amounts(held->id).Get(lack.second) > 0;
           });
  });
}

}  // namespace tutti::core
