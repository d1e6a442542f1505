// SPDX-License-Identifier: Apache-2.0
#include "core/passes/victim_seeker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::core {

using base::Millis;
using model::GangId;
using model::PodId;

namespace {

// Victims are sought again so long after it could not be found out whether there are any.
constexpr Millis kSeekAgainMs = 5'000;
constexpr size_t kMostRefused = 4096;
// Of those that were refused, so many are woken at once, and the next ones after so long; later where the searches of
// these took more than their part of that time.
constexpr size_t kMostWoken = 16;
constexpr Millis kNextMs = 1'000, kPartOfTime = 20;
constexpr int64_t kWorkInMs = 80'000;
constexpr Millis kAnewMs = 60'000;

}  // namespace

void VictimSeeker::SeekAgain(GangId id) {
  Gang& gang = book_.at(id);
  const Millis now = clock_.MonotonicMs();
  if (!SeeksAny() || gang.seek_ms > now) return;
  gang.seek_ms = now + kSeekAgainMs;
  agenda_.At(id, gang.seek_ms);
}

std::vector<Victim> VictimSeeker::ChooseAsTold(const Gang& gang) const {
  std::vector<PodId> members;
  for (const Member* member : gang.members) members.push_back(member->pod);
  std::vector<Victim> victims;
  for (const ChosenVictim& one : options_.choose_victims(gang.key, members, state_))
    victims.push_back({one.pod, one.reclaim ? EvictionCause::kReclaim : EvictionCause::kPreempt});
  const bool may_go =
      std::ranges::all_of(victims, [&](const Victim& victim) { return committer_.victims().MayGo(gang, victim.pod); });
  return may_go ? victims : std::vector<Victim>();
}

// Only by weight does what queues deserve follow what is asked for.
void VictimSeeker::RenewShares() {
  if (!options_.queue_rule.reclaim || options_.queue_rule.kind == QueueRule::Kind::kCapacity) return;
  if (!queues_.Renew(/*shares=*/true)) return;
  if (queues_.LimitsFollowDemand()) waits_.OnLimitsChanged();
}

std::vector<Victim> VictimSeeker::Choose(GangId id, const Census& census, const Requirement& requirement,
                                         const std::string& shape, PlanResult* result) {
  const Gang& gang = book_.at(id);
  if (options_.choose_victims) return ChooseAsTold(gang);
  if (gang.lone || !SeeksAny()) return {};
  if (const auto at = refused_.find(KeyInQueue(gang, shape)); at != refused_.end() && at->second == changes_) {
    Await(id);
    return {};
  }
  RenewShares();
  TakingRights rights(options_, state_, book_, queues_, admission_, clock_, id, census, requirement,
                      [&](PodId pod) { return committer_.victims().MayGo(gang, pod); });
  if (!rights.any()) {
    if (rights.depends_on_queues()) Await(id);
    return {};
  }
  if (const std::string key = rights.depends_on_queues() ? "" : KeyOf(gang, shape);
      !key.empty() && refusals_.Holds(key, book_.Priority(gang)))
    return {};
  const int64_t before = planner_.work();
  VictimAnswer answer = search_.Run(id, census.pending, requirement, rights);
  if (answer.fits && rights.depends_on_queues()) {
    rights.SetAsk(answer.placements);
    answer.fits = rights.Suffice(answer.victims);
  }
  work_ += planner_.work() - before;
  size_t pods = 0;
  for (const VictimUnit& unit : answer.victims) pods += unit.pods.size();
  announcer_.Preempted(answer.fits ? pods : 0);
  if (!answer.fits) {
    Refuse(id, shape, rights, answer.proven);
    return {};
  }
  std::vector<Victim> victims;
  for (const VictimUnit& unit : answer.victims)
    for (const PodId pod : unit.pods) victims.push_back({pod, rights.CauseOf(unit), {}});
  result->fits = true;
  result->placements = std::move(answer.placements);
  return victims;
}

// Pods that were to leave for a gang, and did not, are no victims for that gang alone.
std::string VictimSeeker::KeyOf(const Gang& gang, const std::string& shape) {
  if (shape.empty() || (gang.given_up && !gang.given_up->stuck.empty())) return {};
  return shape + MinResourcesText(gang.spec);
}

std::string VictimSeeker::KeyInQueue(const Gang& gang, const std::string& shape) const {
  const std::string key = KeyOf(gang, shape);
  if (key.empty()) return {};
  return fmt::format("{}|{}|{}|{}", gang.spec.queue_dialect, gang.spec.queue, book_.Priority(gang), key);
}

void VictimSeeker::Await(GangId id) {
  if (waiting_.empty() && round_.empty()) {
    round_changes_ = changes_;
    anew_ms_ = clock_.MonotonicMs() + kAnewMs;
  }
  waiting_.insert(id);
}

void VictimSeeker::Refuse(GangId id, const std::string& shape, const TakingRights& rights, bool proven) {
  const Gang& gang = book_.at(id);
  if (rights.again_ms() != 0) agenda_.At(id, rights.again_ms());
  if (rights.depends_on_queues()) Await(id);
  if (!proven) return SeekAgain(id);
  if (!rights.depends_on_queues()) {
    if (const std::string key = KeyOf(gang, shape); !key.empty()) refusals_.Keep(key, book_.Priority(gang), id);
  } else if (const std::string key = KeyInQueue(gang, shape); !key.empty() && rights.again_ms() == 0) {
    if (refused_.size() >= kMostRefused) refused_.clear();
    refused_[key] = changes_;
  }
}

std::optional<Millis> VictimSeeker::DueAt() const {
  if (!round_.empty()) return due_ms_;
  if (waiting_.empty()) return std::nullopt;
  return round_changes_ != changes_ ? std::min(due_ms_, anew_ms_) : anew_ms_;
}

void VictimSeeker::WakeRefused() {
  const Millis now = clock_.MonotonicMs();
  const auto due = DueAt();
  if (!due || now < *due) return;
  if (now >= anew_ms_) {
    anew_ms_ = now + kAnewMs;
    refusals_.ReadAnew();
    NoteChange();
  }
  due_ms_ = std::max(due_ms_, woken_ms_ + kPartOfTime * (work_ / kWorkInMs));
  if (now < due_ms_) return;
  if (round_.empty()) {
    round_ = std::exchange(waiting_, {});
    round_changes_ = changes_;
  }
  for (size_t woken = 0; !round_.empty() && woken < kMostWoken; ++woken) {
    const GangId id = *round_.begin();
    round_.erase(round_.begin());
    if (const Gang& gang = book_.at(id); gang.dialect && gang.refusal && !gang.whole) agenda_.MarkReady(id);
  }
  woken_ms_ = now;
  work_ = 0;
  due_ms_ = now + (round_.empty() ? kSeekAgainMs : kNextMs);
}

}  // namespace tutti::core
