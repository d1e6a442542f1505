// SPDX-License-Identifier: Apache-2.0
#include "kube/lanes.h"

namespace tutti::kube {

void Lanes::Push(cluster::Lane lane, uint64_t job, base::Millis now_ms) {
  lanes_[static_cast<size_t>(lane)].waiting.push_back({job, now_ms});
}

size_t Lanes::size() const {
  size_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.waiting.size();
  return sum;
}

std::optional<uint64_t> Lanes::Pop(base::Millis now_ms, bool background) {
  Lane* first = nullptr;
  Lane* due = nullptr;
  const size_t end = background ? lanes_.size() : static_cast<size_t>(cluster::Lane::kStatus);
  for (size_t i = 0; i < end; ++i) {
    Lane& lane = lanes_[i];
    if (lane.waiting.empty()) continue;
    if (first == nullptr) {
      first = &lane;
    } else if (now_ms - lane.waiting.front().since_ms >= kAgedAfterMs && ++lane.passed_over >= kAgedShare[i]) {
      if (due == nullptr) due = &lane;
    }
  }
  if (first == nullptr) return std::nullopt;
  Lane& chosen = due != nullptr ? *due : *first;
  chosen.passed_over = 0;
  const uint64_t job = chosen.waiting.front().job;
  chosen.waiting.pop_front();
  return job;
}

}  // namespace tutti::kube
