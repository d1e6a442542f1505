// SPDX-License-Identifier: Apache-2.0
#include "kube/lanes.h"

#include <algorithm>

namespace tutti::kube {

void Lanes::Push(cluster::Lane lane, uint64_t job, base::Millis now_ms) {
  lanes_[static_cast<size_t>(lane)].waiting.push_back({job, now_ms});
}

size_t Lanes::size() const {
  size_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.waiting.size();
  return sum;
}

std::optional<base::Millis> Lanes::BackgroundSince() const {
  std::optional<base::Millis> since;
  for (size_t i = 0; i < lanes_.size(); ++i)
    if (const auto& waiting = lanes_[i].waiting; InBackground(static_cast<cluster::Lane>(i)) && !waiting.empty())
      since = std::min(since.value_or(waiting.front().since_ms), waiting.front().since_ms);
  return since;
}

std::optional<uint64_t> Lanes::Pop(base::Millis now_ms, base::Millis background_since_ms) {
  Lane* first = nullptr;
  Lane* due = nullptr;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    if (lane.waiting.empty()) continue;
    if (InBackground(static_cast<cluster::Lane>(i)) && lane.waiting.front().since_ms > background_since_ms) continue;
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
