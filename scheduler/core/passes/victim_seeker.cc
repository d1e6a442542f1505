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
// Of those that were refused, so many are woken at once, and the next ones after so long.
constexpr size_t kMostWoken = 16;
constexpr Millis kNextMs = 1'000;

}  // namespace

std::string KeyOf(GangId id, const std::string& shape) { return shape.empty() ? fmt::format("#{}", id.value) : shape; }

void VictimSeeker::SeekAgain(GangId id) {
  if (SeeksAny()) agenda_.At(id, clock_.MonotonicMs() + kSeekAgainMs);
}

std::vector<Victim> VictimSeeker::ChooseAsTold(const Gang& gang) const {
  std::vector<Victim> victims = options_.choose_victims(gang, state_);
  const bool may_go =
      std::ranges::all_of(victims, [&](const Victim& victim) { return committer_.victims().MayGo(gang, victim.pod); });
  return may_go ? victims : std::vector<Victim>();
}

// By weight, what queues deserve follows what is asked for, and that has changed since the cycle began.
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
  RenewShares();
  TakingRights rights(options_, state_, book_, queues_, admission_, clock_, id, census, requirement,
                      [&](PodId pod) { return committer_.victims().MayGo(gang, pod); });
  if (!rights.any()) {
    if (rights.depends_on_queues()) waiting_.insert(id);
    return {};
  }
  std::string key = KeyOf(id, shape);
  if (rights.depends_on_queues())
    key = fmt::format("{}|{}|{}|{}", gang.spec.queue_dialect, gang.spec.queue, book_.Priority(gang), key);
  if (IsRefused(id, key, rights)) return {};
  VictimAnswer answer = search_.Run(id, census.pending, requirement, rights);
  if (answer.fits && rights.depends_on_queues()) {
    rights.SetAsk(answer.placements);
    answer.fits = rights.Suffice(answer.victims);
  }
  size_t pods = 0;
  for (const VictimUnit& unit : answer.victims) pods += unit.pods.size();
  announcer_.Preempted(answer.fits ? pods : 0);
  if (!answer.fits) {
    Refuse(id, key, rights, answer.proven);
    return {};
  }
  std::vector<Victim> victims;
  for (const VictimUnit& unit : answer.victims)
    for (const PodId pod : unit.pods) victims.push_back({pod, rights.CauseOf(unit), {}});
  result->fits = true;
  result->placements = std::move(answer.placements);
  return victims;
}

bool VictimSeeker::IsRefused(GangId id, const std::string& key, const TakingRights& rights) {
  if (!rights.depends_on_queues()) return refusals_.Holds(key, book_.Priority(book_.at(id)));
  const auto at = refused_.find(key);
  if (at == refused_.end() || at->second != changes_) return false;
  waiting_.insert(id);
  return true;
}

void VictimSeeker::Refuse(GangId id, const std::string& key, const TakingRights& rights, bool proven) {
  if (rights.again_ms() != 0) agenda_.At(id, rights.again_ms());
  if (rights.depends_on_queues()) {
    if (refused_.size() >= kMostRefused) refused_.clear();
    if (rights.again_ms() == 0) refused_[key] = changes_;
    waiting_.insert(id);
  } else if (proven) {
    refusals_.Keep(key, book_.Priority(book_.at(id)), id);
  } else {
    SeekAgain(id);
  }
}

std::optional<Millis> VictimSeeker::DueAt() const {
  if (waiting_.empty() || woken_at_ == changes_) return std::nullopt;
  return due_ms_;
}

void VictimSeeker::WakeRefused() {
  const Millis now = clock_.MonotonicMs();
  const auto due = DueAt();
  if (!due || now < *due) return;
  size_t woken = 0;
  auto at = waiting_.upper_bound(last_woken_);
  for (; !waiting_.empty() && woken < kMostWoken; ++woken) {
    if (at == waiting_.end()) at = waiting_.begin();
    last_woken_ = *at;
    at = waiting_.erase(at);
    if (const Gang& gang = book_.at(last_woken_); gang.dialect && gang.refusal) agenda_.MarkReady(last_woken_);
  }
  due_ms_ = now + (waiting_.empty() ? kSeekAgainMs : kNextMs);
  if (waiting_.empty()) woken_at_ = changes_;
}

}  // namespace tutti::core
