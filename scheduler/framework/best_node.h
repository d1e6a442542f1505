// SPDX-License-Identifier: Apache-2.0
// BestNode: finds the highest of many totals while they change. It is a tournament with groups of 64: a change scans 64
// numbers on each level, and the levels take 1/63 of the totals' memory. There is a total for each class of pods and
// node, so a total takes two bytes where the highest possible one allows it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/ids.h"

namespace tutti::framework {

// A BestNode for numbers of one width. The lowest number marks a node that is out.
template <typename Number>
class Tournament {
 public:
  static constexpr Number kOut = std::numeric_limits<Number>::min();

  size_t size() const { return totals_.size(); }
  Number total(size_t slot) const { return totals_[slot]; }
  void Put(size_t slot, Number total) { totals_[slot] = total; }
  void Grow(size_t slots);
  void Replay(size_t slot);
  void Rebuild();
  model::NodeId Best() const;
  // Calls each(slot) for all nodes with the highest total; for none when all are out. Costs O(log n) for each.
  template <typename Each>
  void ForEachBest(Each each) const {
    const Number highest = rounds_.empty() ? (totals_.empty() ? kOut : totals_[0]) : rounds_.back()[0];
    if (highest != kOut) Visit(rounds_.size(), 0, highest, each);
  }
  size_t memory() const;

 private:
  static constexpr size_t kFanOut = 64;
  using Level = std::vector<Number>;

  const Level& Below(size_t level) const { return level == 0 ? totals_ : rounds_[level - 1]; }
  static Number Highest(const Level& below, size_t block);
  // Visits all slots with the total `highest` below an entry of round `levels`.
  template <typename Each>
  void Visit(size_t levels, size_t entry, Number highest, Each& each) const {
    if (levels == 0) return each(entry);
    const Level& below = Below(levels - 1);
    const size_t end = std::min(below.size(), (entry + 1) * kFanOut);
    for (size_t i = entry * kFanOut; i < end; ++i)
      if (below[i] == highest) Visit(levels - 1, i, highest, each);
  }

  Level totals_;
  std::vector<Level> rounds_;  // rounds_[k][i] is the highest of 64 entries of the level below; the last has one entry
};

extern template class Tournament<int16_t>;
extern template class Tournament<int32_t>;

class BestNode {
 public:
  // The total of a node that takes no part.
  static constexpr int32_t kOut = std::numeric_limits<int32_t>::min();

  // Totals are in 0..most. REQUIRES: no total was put yet.
  explicit BestNode(int64_t most = std::numeric_limits<int32_t>::max())
      : narrow_(most <= std::numeric_limits<int16_t>::max()) {}

  int32_t total(size_t slot) const {
    if (!narrow_) return wide_.total(slot);
    const int16_t total = small_.total(slot);
    return total == Tournament<int16_t>::kOut ? kOut : total;
  }

  // Adds slots, which are out. Never shrinks.
  void Grow(size_t slots) { narrow_ ? small_.Grow(slots) : wide_.Grow(slots); }

  // Sets a total. After Put or TakeOut, call Replay() for each changed slot, or Rebuild() when there are many.
  void Put(size_t slot, int32_t total) {
    narrow_ ? small_.Put(slot, static_cast<int16_t>(total)) : wide_.Put(slot, total);
  }
  void TakeOut(size_t slot) {
    narrow_ ? small_.Put(slot, Tournament<int16_t>::kOut) : wide_.Put(slot, Tournament<int32_t>::kOut);
  }
  void Replay(size_t slot) { narrow_ ? small_.Replay(slot) : wide_.Replay(slot); }
  void Rebuild() { narrow_ ? small_.Rebuild() : wide_.Rebuild(); }

  // Returns the slot of the highest total, the lowest such slot; invalid when all are out.
  model::NodeId Best() const { return narrow_ ? small_.Best() : wide_.Best(); }
  // Calls each(slot) for all nodes with the highest total; for none when all are out.
  template <typename Each>
  void ForEachBest(Each each) const {
    narrow_ ? small_.ForEachBest(each) : wide_.ForEachBest(each);
  }

  size_t size() const { return narrow_ ? small_.size() : wide_.size(); }
  size_t memory() const { return small_.memory() + wide_.memory(); }

 private:
  bool narrow_;
  Tournament<int16_t> small_;  // one of these is empty
  Tournament<int32_t> wide_;
};

}  // namespace tutti::framework
