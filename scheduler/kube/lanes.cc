// SPDX-License-Identifier: Apache-2.0
#include "kube/lanes.h"

namespace tutti::kube {

void Lanes::Push(cluster::Lane lane, uint64_t job, base::Millis now_ms) {
  lanes_[static_cast<size_t>(lane)].push_back({job, now_ms});
}

size_t Lanes::size() const { return lanes_[0].size() + lanes_[1].size() + lanes_[2].size(); }

std::optional<uint64_t> Lanes::Pop(base::Millis now_ms) {
  std::deque<Waiting>* first = nullptr;
  std::deque<Waiting>* oldest = nullptr;  // of those behind it
  for (auto& lane : lanes_) {
    if (lane.empty()) continue;
    if (first == nullptr) first = &lane;
    else if (oldest == nullptr || lane.front().since_ms < oldest->front().since_ms) oldest = &lane;
  }
  if (first == nullptr) return std::nullopt;
  const bool aged = oldest != nullptr && now_ms - oldest->front().since_ms >= kAgedAfterMs;
  std::deque<Waiting>* chosen = first;
  if (aged && ++since_aged_ >= kAgedShare) {
    since_aged_ = 0;
    chosen = oldest;
  }
  const uint64_t job = chosen->front().job;
  chosen->pop_front();
  return job;
}

}  // namespace tutti::kube
