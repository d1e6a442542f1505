// SPDX-License-Identifier: Apache-2.0
#include "core/passes/victim_seeker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/quantity.h"

namespace tutti::core {

using base::Millis;
using model::GangId;
using model::PodId;

namespace {

// Between two rounds, and until a gang is considered again whose victims are being given up.
constexpr Millis kSeekAgainMs = 5'000;
constexpr size_t kMostRefused = 32'768;
// Of a round so many are woken at once, and the next ones after so long, or later: searches of shapes that were refused
// before take their part of the time at most.
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

void VictimSeeker::RenewShares() {
  if (!options_.queue_rule.reclaim || !queues_.DeservedFollowsDemand()) return;
  if (!queues_.Renew(/*shares=*/true)) return;
  if (queues_.LimitsFollowDemand()) waits_.OnLimitsChanged();
}

bool VictimSeeker::MaySeek(GangId id, const std::string& key, const std::string& shape) {
  Gang& gang = book_.at(id);
  const bool has_turn = turns_.erase(id) > 0;
  const auto known = refused_.find(key);
  if (known == refused_.end() && (!key.empty() || gang.sought_ms == 0)) return true;
  if (known != refused_.end() && known->second.by_nodes) {
    if (refusals_.Holds(KeyOf(gang, shape), book_.Priority(gang))) {
      gang.seeks = SeeksVictims::kWithRoom;
      return false;
    }
  } else if (known != refused_.end() && known->second.changes == changes_) {
    Await(gang);
    return false;
  }
  if (has_turn) return true;
  put_off_ = true;
  Await(gang);
  return false;
}

VictimSeeker::Choice VictimSeeker::Choose(GangId id, const Census& census, const Requirement& requirement,
                                          const std::string& shape) {
  Gang& gang = book_.at(id);
  if (options_.choose_victims) return {ChooseAsTold(gang), {}, {}};
  if (!SeeksAny()) return {};
  if (admission_.ExcessOfMinResources(gang, census, requirement)) {
    Await(gang);  // what is free may be enough later, or it asks for less
    return {};
  }
  const std::string key = KeyInQueue(gang, shape);
  if (!MaySeek(id, key, shape)) return {};
  RenewShares();
  TakingRights rights(options_, state_, book_, queues_, admission_, clock_, id, census, requirement,
                      [&](PodId pod) { return committer_.victims().MayGo(gang, pod); });
  if (!rights.any()) {
    if (rights.depends_on_queues()) Await(gang);
    return {};
  }
  const bool nobody_goes = !refusals_.AnyMightGo(rights.below());
  if (nobody_goes && !key.empty()) refusals_.Keep(KeyOf(gang, shape), book_.Priority(gang));
  if ((nobody_goes || !rights.depends_on_queues()) && refusals_.Holds(KeyOf(gang, shape), book_.Priority(gang))) {
    Remember(key, changes_, true);
    gang.seeks = SeeksVictims::kWithRoom;
    return {};
  }
  const int64_t before = planner_.work();
  VictimAnswer answer = Seek(id, census, requirement, rights);
  size_t pods = 0;
  for (const VictimUnit& unit : answer.victims) pods += unit.what == VictimUnit::What::kHeld ? 0 : unit.pods.size();
  announcer_.Preempted(answer.fits ? pods : 0);
  if (!answer.fits) {
    if (gang.sought_ms != 0 || refused_.contains(key))
      free_ms_ = std::max(free_ms_, clock_.MonotonicMs()) + kPartOfTime * (planner_.work() - before) / kWorkInMs;
    Refuse(id, shape, rights, answer.proven);
    return {};
  }
  refused_.erase(key);
  return ChoiceOf(std::move(answer), rights);
}

VictimSeeker::Choice VictimSeeker::Rehearse(GangId id, const Census& census, const Requirement& requirement) {
  const Gang& gang = book_.at(id);
  if (!SeeksAny() || admission_.ExcessOfMinResources(gang, census, requirement)) return {};
  TakingRights rights(options_, state_, book_, queues_, admission_, clock_, id, census, requirement,
                      [&](PodId pod) { return committer_.victims().MayGo(gang, pod); });
  if (!rights.any()) return {};
  VictimAnswer answer = Seek(id, census, requirement, rights);
  return answer.fits ? ChoiceOf(std::move(answer), rights) : Choice();
}

VictimAnswer VictimSeeker::Seek(GangId id, const Census& census, const Requirement& requirement, TakingRights& rights) {
  VictimAnswer answer = search_.Run(id, census.pending, requirement, rights);
  if (!answer.fits || !rights.depends_on_queues()) return answer;
  rights.SetAsk(answer.placements);
  answer.fits = rights.Suffice(answer.victims);
  return answer;
}

VictimSeeker::Choice VictimSeeker::ChoiceOf(VictimAnswer answer, const TakingRights& rights) {
  Choice choice;
  for (const VictimUnit& unit : answer.victims)
    if (unit.what == VictimUnit::What::kHeld)
      choice.holders.push_back(unit.gang);
    else
      for (const PodId pod : unit.pods) choice.victims.push_back({pod, rights.CauseOf(unit), {}});
  choice.result.fits = true;
  choice.result.placements = std::move(answer.placements);
  return choice;
}

std::string VictimSeeker::WhyNone(const Gang& gang, const Census& census, const Requirement& requirement) const {
  if (gang.seeks == SeeksVictims::kNo) return {};
  const auto excess = admission_.ExcessOfMinResources(gang, census, requirement);
  if (!excess) return {};
  return fmt::format("No pod is evicted for it: its minResources ask for {} {}, its members for {}.",
                     model::FormatAmount(excess->resource, excess->asked), excess->resource,
                     model::FormatAmount(excess->resource, excess->members));
}

// Pods that were to leave for a gang, and did not, are no victims for that gang alone.
std::string VictimSeeker::KeyOf(const Gang& gang, const std::string& shape) {
  if (shape.empty() || (gang.given_up && !gang.given_up->stuck.empty())) return {};
  const std::string key = shape + OtherAsksText(gang.spec);
  return gang.spec.priority_slope == 0 ? key : fmt::format("{}^{}", key, gang.spec.priority_slope);
}

std::string VictimSeeker::KeyInQueue(const Gang& gang, const std::string& shape) const {
  const std::string key = KeyOf(gang, shape);
  if (key.empty()) return {};
  return fmt::format("{}|{}|{}|{}", gang.spec.queue_dialect, gang.spec.queue, book_.Priority(gang), key);
}

void VictimSeeker::Await(Gang& gang) {
  gang.seeks = SeeksVictims::kWithChange;
  if (agenda_.AnySeeks() || !round_.empty()) return;
  round_changes_ = changes_;
  anew_ms_ = clock_.MonotonicMs() + kAnewMs;
}

void VictimSeeker::Remember(const std::string& key, uint64_t changes, bool by_nodes) {
  if (key.empty()) return;
  if (refused_.size() >= kMostRefused) refused_.clear();
  refused_[key] = {changes, by_nodes};
}

void VictimSeeker::Refuse(GangId id, const std::string& shape, const TakingRights& rights, bool proven) {
  Gang& gang = book_.at(id);
  gang.sought_ms = clock_.MonotonicMs();
  const std::string key = KeyInQueue(gang, shape);
  if (rights.again_ms() != 0) agenda_.At(id, rights.again_ms());
  if (proven && !rights.depends_on_queues() && !rights.waits_for_time() && !key.empty()) {
    refusals_.Keep(KeyOf(gang, shape), book_.Priority(gang));
    Remember(key, changes_, true);
    gang.seeks = SeeksVictims::kWithRoom;
    return;
  }
  Await(gang);
  Remember(key, rights.again_ms() == 0 ? changes_ : 0, false);
}

void VictimSeeker::PutOff(GangId id, const std::string& shape) {
  if (options_.choose_victims) return SeekAgain(id);
  Gang& gang = book_.at(id);
  gang.sought_ms = clock_.MonotonicMs();
  Await(gang);
  Remember(KeyInQueue(gang, shape), changes_, false);
}

void VictimSeeker::NoteNodes() {
  for (const int32_t priority : refusals_.TakeDoubtful()) agenda_.TakeSeekingRoom(priority, &round_);
}

std::optional<Millis> VictimSeeker::DueAt() const {
  if (!round_.empty()) return std::max(next_ms_, free_ms_);
  if (!agenda_.AnySeeks()) return std::nullopt;
  const bool changed = round_changes_ != changes_ || put_off_;
  return changed ? std::min(std::max(rest_ms_, free_ms_), anew_ms_) : anew_ms_;
}

void VictimSeeker::WakeRefused() {
  const Millis now = clock_.MonotonicMs();
  const auto due = DueAt();
  if (!due || now < *due) return;
  if (round_.empty()) {
    if (now >= anew_ms_) {
      anew_ms_ = now + kAnewMs;
      refusals_.ReadAnew();
      NoteChange();
    }
    if (now < std::max(rest_ms_, free_ms_)) return;
    const std::vector<uint32_t> groups = agenda_.TakeSeeking();
    round_.assign(groups.begin(), groups.end());
    round_changes_ = changes_;
    put_off_ = false;
  }
  turns_.clear();
  for (; !round_.empty() && turns_.size() < kMostWoken; round_.pop_front())
    if (const auto id = agenda_.WakeSeeking(round_.front())) turns_.insert(*id);
  next_ms_ = now + (turns_.size() < kMostWoken ? 0 : kNextMs);
  if (round_.empty()) rest_ms_ = now + kSeekAgainMs;
}

}  // namespace tutti::core
