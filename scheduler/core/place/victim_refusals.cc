// SPDX-License-Identifier: Apache-2.0
#include "core/place/victim_refusals.h"

#include <algorithm>

namespace tutti::core {

void VictimRefusals::ReadAnew() {
  anew_ms_ = clock_.MonotonicMs();
  evictable_.ReadAnew();
}

bool VictimRefusals::AnyMightGo(int32_t below) {
  evictable_.CatchUp();
  const std::vector<int32_t> priorities = evictable_.PrioritiesBelow(below);
  return !priorities.empty() && priorities.back() != Evictable::kLeaving;
}

bool VictimRefusals::Holds(const std::string& shape, int32_t priority) {
  const base::Millis now = clock_.MonotonicMs();
  const auto level = levels_.find(priority);
  if (level == levels_.end()) return false;
  const auto at = level->second.proofs.find(shape);
  if (at == level->second.proofs.end() || now >= at->second.made_ms + kAnewMs) return false;
  if (now >= anew_ms_ + kAnewMs) ReadAnew();
  evictable_.CatchUp();
  return !evictable_.MoreSince(at->second.made, priority) || !AnyMightGo(priority);
}

void VictimRefusals::Keep(const std::string& shape, int32_t priority) {
  if (levels_.size() >= kMostLevels && !levels_.contains(priority)) levels_.clear();
  Level& level = levels_[priority];
  if (level.proofs.size() >= kMostProofs) level.proofs.clear();
  if (level.proofs.empty()) level.oldest = evictable_.now();
  level.proofs[shape] = {evictable_.now(), clock_.MonotonicMs()};
}

std::vector<int32_t> VictimRefusals::TakeDoubtful() {
  std::vector<int32_t> doubtful;
  if (levels_.empty()) return doubtful;
  evictable_.CatchUp();
  for (auto at = levels_.begin(); at != levels_.end();) {
    auto& [priority, level] = *at;
    if (!evictable_.MoreSince(level.oldest, priority) || !AnyMightGo(priority)) {
      ++at;
      continue;
    }
    doubtful.push_back(priority);
    level.oldest = evictable_.now();
    for (auto proof = level.proofs.begin(); proof != level.proofs.end();) {
      const auto here = proof++;
      if (evictable_.MoreSince(here->second.made, priority))
        level.proofs.erase(here);
      else
        level.oldest = std::min(level.oldest, here->second.made);
    }
    at = level.proofs.empty() ? levels_.erase(at) : std::next(at);
  }
  return doubtful;
}

}  // namespace tutti::core
