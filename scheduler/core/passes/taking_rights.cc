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

// What a gang says of its own time counts up to this where neither its queue nor the configuration says a time.
constexpr Millis kLongestOwnRuntimeMs = 3'600'000;

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
      right_(options, state, book, gang_, clock.WallMs()),
      census_(census),
      requirement_(requirement),
      lets_go_(std::move(lets_go)),
      queue_(gang_.spec.queue.empty() ? QueueId() : queues.tree().Find(QueueOf(gang_))) {
  if (!requirement.reachable() || !right_.any()) return;
  by_priority_ = right_.by_priority() && (!right_.within_queue() || queue_.valid());
  if (!queue_.valid()) return;
  std::set<std::string_view> resources{model::kPods};
  for (const Member* member : census.pending)
    for (const auto& [name, amount] : state.pod(member->pod).pod_class->spec->requests) resources.insert(name);
  model::ResourceList ask = LeastWeight(census.pending, requirement, state, resources);
  ask_ = queue::Ask(queues.tree().cells(), ask);
  by_share_ = right_.shares_decide() && queues.rules().MayTake(queue_, ask_);
  if (requirement.have == 0 && gang_.spec.min_resources) ask.MaxAll(*gang_.spec.min_resources);
  for (const queue::QueueKey& key : QueuesOf(gang_))
    if (const QueueId queue = queues.tree().Find(key); queue.valid())
      for (const auto& shortage : queues.rules().Admit(queue, queue::Ask(queues.tree().cells(), ask)).shortages)
        short_.emplace_back(shortage.queue, shortage.cell);
}

int32_t TakingRights::below() const { return by_share_ ? std::numeric_limits<int32_t>::max() : right_.priority(); }

void TakingRights::SetAsk(const std::vector<cluster::Placement>& placements) {
  model::ResourceList sum;
  for (const cluster::Placement& placement : placements) sum.AddAll(WeightOf(*placement.pod_class));
  ask_ = queue::Ask(queues_.tree().cells(), sum);
}

QueueId TakingRights::QueueOfUnit(const VictimUnit& unit) const {
  for (const PodId pod : unit.pods)
    if (const QueueCharge* held = book_.ChargeOf(pod); held && !taken_.contains(pod))
      return queues_.used().queue(held->ids.front());
  return {};
}

std::optional<EvictionCause> TakingRights::CauseFor(const VictimUnit& unit) const {
  if (unit.what == What::kLeaving) return EvictionCause::kPreempt;
  return right_.CauseFor(unit.gang ? &book_.at(unit.gang) : nullptr, unit.priority);
}

bool TakingRights::MayEverTake(const VictimUnit& unit) {
  if (unit.what == What::kLeaving) return true;
  const std::optional<EvictionCause> cause = CauseFor(unit);
  if (cause != EvictionCause::kReclaim) return cause && by_priority_;
  if (unit.what == What::kHeld) return false;  // it starts, and then has run for no time
  const QueueId giver = QueueOfUnit(unit);
  if (!by_share_ || !giver.valid() || !queues_.tree().spec(giver).reclaimable) return false;
  const Millis stays_for = StaysFor(unit, giver);
  if (stays_for > 0 && MayReclaim(unit)) {
    const Millis at = clock_.MonotonicMs() + stays_for;
    again_ms_ = again_ms_ == 0 ? at : std::min(again_ms_, at);
  }
  return stays_for == 0;
}

bool TakingRights::MayTake(const VictimUnit& unit) {
  return MayEverTake(unit) && (CauseFor(unit) != EvictionCause::kReclaim || MayReclaim(unit));
}

bool TakingRights::MayReclaim(const VictimUnit& unit) const {
  const queue::Ledger& used = queues_.used();
  const QueueId giver = QueueOfUnit(unit);
  if (unit.pods.size() == 1)
    return queues_.rules().MayTakeFrom(queue_, ask_, giver,
                                       used.amounts(book_.ChargeOf(unit.pods.front())->ids.front()));
  std::vector<queue::CellAmount> sum;
  for (const PodId pod : unit.pods)
    if (const QueueCharge* held = book_.ChargeOf(pod); held && !taken_.contains(pod))
      for (const queue::CellAmount& amount : used.amounts(held->ids.front())) {
        const auto at = std::ranges::find(sum, amount.cell, &queue::CellAmount::cell);
        if (at == sum.end())
          sum.push_back(amount);
        else
          at->amount += amount.amount;
      }
  return queues_.rules().MayTakeFrom(queue_, ask_, giver, queue::Ask(queues_.tree().cells(), std::move(sum)));
}

// What a gang says of itself only shortens the time: a tenant could otherwise exempt its own gangs.
Millis TakingRights::LeastRuntimeOf(const Gang& gang, QueueId giver) const {
  const std::optional<Millis> of_queue = queues_.tree().spec(giver).min_runtime_ms;
  const Millis said = of_queue.value_or(rule_.min_runtime_ms);
  if (!gang.spec.min_runtime_ms) return said;
  return std::min(*gang.spec.min_runtime_ms, of_queue || said > 0 ? said : kLongestOwnRuntimeMs);
}

// A gang that goes as a whole has run since its oldest member is there, other pods since they are themselves.
Millis TakingRights::StaysFor(const VictimUnit& unit, QueueId giver) const {
  const Millis least = LeastRuntimeOf(book_.at(unit.gang), giver);
  if (least == 0) return 0;
  Millis since_ms = unit.since_ms;
  if (unit.what == What::kGang)
    for (const PodId pod : unit.pods)
      if (const Millis bound_ms = state_.pod(pod).pod->bound_ms; bound_ms != 0) since_ms = std::min(since_ms, bound_ms);
  return std::max<Millis>(0, since_ms + least - clock_.WallMs());
}

void TakingRights::Take(const VictimUnit& unit) {
  queue::Ledger& used = queues_.used();
  for (const PodId pod : unit.pods)
    if (const QueueCharge* held = book_.ChargeOf(pod); held && taken_.insert(pod).second) {
      if (!mark_) mark_ = used.Here();
      for (const queue::ChargeId id : held->ids) used.Release(id);
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
  const auto lacks_what_it_holds = [&](queue::ChargeId id) {
    const queue::Ledger& used = queues_.used();
    return std::ranges::any_of(short_, [&](const auto& lack) {
      return queues_.tree().IsOnPath(lack.first, used.queue(id)) && used.amounts(id).Get(lack.second) > 0;
    });
  };
  return std::ranges::any_of(unit.pods, [&](PodId pod) {
    const QueueCharge* held = book_.ChargeOf(pod);
    return held && !taken_.contains(pod) && std::ranges::any_of(held->ids, lacks_what_it_holds);
  });
}

}  // namespace tutti::core
