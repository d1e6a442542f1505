// SPDX-License-Identifier: Apache-2.0
#include "core/place/victim_refusals.h"

#include <algorithm>

namespace tutti::core {

void VictimRefusals::ReadAnew() {
  anew_ms_ = clock_.MonotonicMs();
  evictable_.ReadAnew();
  proofs_.clear();
}

bool VictimRefusals::Holds(const std::string& shape, int32_t priority) {
  if (clock_.MonotonicMs() >= anew_ms_ + kAnewMs) ReadAnew();
  const auto at = proofs_.find(Key(shape, priority));
  if (at == proofs_.end()) return false;
  evictable_.CatchUp();
  if (!evictable_.MoreSince(at->second.made, priority)) return true;
  proofs_.erase(at);
  return false;
}

void VictimRefusals::Keep(const std::string& shape, int32_t priority, model::GangId gang) {
  if (proofs_.size() >= kMostProofs) proofs_.clear();
  proofs_[Key(shape, priority)] = {evictable_.now(), gang};
}

std::vector<model::GangId> VictimRefusals::TakeDoubtful() {
  std::vector<model::GangId> gangs;
  if (proofs_.empty()) return gangs;
  evictable_.CatchUp();
  std::vector<std::pair<model::GangId, const Key*>> doubtful;
  for (const auto& [key, proof] : proofs_)
    if (evictable_.MoreSince(proof.made, key.second)) doubtful.emplace_back(proof.gang, &key);
  std::ranges::sort(doubtful, {}, [](const auto& item) { return std::pair(item.first, *item.second); });
  std::vector<Key> keys;
  for (const auto& [gang, key] : doubtful) {
    gangs.push_back(gang);
    keys.push_back(*key);
  }
  for (const Key& key : keys) proofs_.erase(key);
  return gangs;
}

}  // namespace tutti::core
