// SPDX-License-Identifier: Apache-2.0
// BestNode: the highest of many totals under changes. A tournament with 64 entrants a round: a change costs one scan of
// 64 numbers a level, and the memory over the totals themselves is 1/63 of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/ids.h"

namespace tutti::framework {

class BestNode {
 public:
  // The total of a node that is out of the contest.
  static constexpr int32_t kOut = std::numeric_limits<int32_t>::min();

  int32_t total(size_t slot) const { return totals_[slot]; }

  // New slots are out. Never shrinks.
  void Grow(size_t slots);

  // To change some: write through totals(), then Replay() each, or Rebuild() when they are many.
  std::vector<int32_t>& totals() { return totals_; }
  void Replay(size_t slot);
  void Rebuild();

  // The slot of the highest total, the lowest such slot; invalid when all are out.
  model::NodeId Best() const;

  size_t memory() const;

 private:
  static constexpr size_t kFanOut = 64;
  using Level = std::vector<int32_t>;

  const Level& Below(size_t level) const { return level == 0 ? totals_ : rounds_[level - 1]; }
  static int32_t Highest(const Level& below, size_t block);

  Level totals_;
  std::vector<Level> rounds_;  // rounds_[k][i] is the highest of 64 entries of the level below; the last has one entry
};

}  // namespace tutti::framework
