// SPDX-License-Identifier: Apache-2.0
#include "framework/best_node.h"

#include <algorithm>
#include <array>

namespace tutti::framework {

template <typename Number>
Number Tournament<Number>::Highest(const Level& below, size_t block) {
  const Number* entries = below.data() + block * kFanOut;
  const size_t count = std::min(below.size() - block * kFanOut, kFanOut);
  Number highest = kOut;
  if (count < kFanOut) {
    for (size_t i = 0; i < count; ++i) highest = std::max(highest, entries[i]);
    return highest;
  }
  std::array<Number, 16> lanes;  // compared in one step
  lanes.fill(kOut);
  for (size_t i = 0; i < kFanOut; i += lanes.size())
    for (size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] = std::max(lanes[lane], entries[i + lane]);
  for (const Number lane : lanes) highest = std::max(highest, lane);
  return highest;
}

template <typename Number>
void Tournament<Number>::Grow(size_t slots) {
  if (slots <= totals_.size()) return;
  totals_.resize(slots, kOut);
  Rebuild();
}

template <typename Number>
void Tournament<Number>::Rebuild() {
  size_t level = 0;
  for (size_t entries = totals_.size(); entries > 1; ++level) {
    entries = (entries + kFanOut - 1) / kFanOut;
    if (level == rounds_.size()) rounds_.emplace_back();
    rounds_[level].resize(entries);
    for (size_t block = 0; block < entries; ++block) rounds_[level][block] = Highest(Below(level), block);
  }
  rounds_.resize(level);
}

template <typename Number>
void Tournament<Number>::Replay(size_t slot) {
  for (size_t level = 0; level < rounds_.size(); ++level) {
    slot /= kFanOut;
    const Number highest = Highest(Below(level), slot);
    if (rounds_[level][slot] == highest) return;
    rounds_[level][slot] = highest;
  }
}

template <typename Number>
model::NodeId Tournament<Number>::Best() const {
  if (totals_.empty()) return {};
  size_t slot = 0;
  for (size_t level = rounds_.size(); level-- > 0;) {
    const Level& below = Below(level);
    const Number highest = rounds_[level][slot];
    for (slot *= kFanOut; below[slot] != highest;) ++slot;
  }
  return totals_[slot] == kOut ? model::NodeId() : model::NodeId(static_cast<uint32_t>(slot));
}

template <typename Number>
size_t Tournament<Number>::memory() const {
  size_t entries = totals_.capacity();
  for (const Level& round : rounds_) entries += round.capacity();
  return entries * sizeof(Number);
}

template class Tournament<int16_t>;
template class Tournament<int32_t>;

}  // namespace tutti::framework
