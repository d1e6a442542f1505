// SPDX-License-Identifier: Apache-2.0
// Normalizer: keeps the raw scores of one normalising plugin over the feasible nodes, and normalises them.
//
// Use: call Erase and Insert for every changed node, then UpdateExtremes(), which says whether the extremes moved. If
// so, every node's share changed from OldShare to Share. While all raw scores are 0 it is flat: it stores and counts
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "framework/plugin.h"
#include "framework/small_ints.h"

namespace tutti::framework {

class Normalizer {
 public:
  explicit Normalizer(Normalize kind) : kind_(kind) {}

  bool flat() const { return raw_.empty(); }
  int64_t raw(size_t slot) const { return raw_.at(slot); }

  // Add the raw score of a slot that became feasible, and remove it again.
  void Insert(size_t slot, int64_t raw, size_t slots);
  void Erase(size_t slot);
  // Takes all raw scores at once; ignores those of refused slots.
  void Assign(std::span<const RefusedBy> refused_by, std::span<const int64_t> raw);

  // Finds the extremes again if one was erased. True when Share has changed for all nodes.
  bool UpdateExtremes(std::span<const RefusedBy> refused_by);

  // The extremes over the feasible nodes that have a score; both 0 when there are none.
  struct Extremes {
    int64_t max = 0, min = 0;
  };
  // Returns the normalised score, 0..100; the raw score for Normalize::kNone.
  static int64_t ShareOf(Normalize kind, int64_t raw, const Extremes& extremes);
  // Tells whether the score counts for the extremes.
  static bool Counts(Normalize kind, int64_t raw) { return kind != Normalize::kSpread || raw != kNoScore; }

  // Return the share, 0..100, by the extremes of the last UpdateExtremes, and of the one before.
  int64_t Share(int64_t raw) const { return ShareOf(kind_, raw, settled_); }
  int64_t OldShare(int64_t raw) const { return ShareOf(kind_, raw, before_); }

  size_t memory() const { return raw_.memory(); }

 private:
  bool Counts(int64_t raw) const { return Counts(kind_, raw); }
  void Count(int64_t raw);
  void CountAll(std::span<const RefusedBy> refused_by);

  Normalize kind_;
  SmallInts raw_;  // by slot; empty while flat
  Extremes now_, settled_, before_;
  size_t at_max_ = 0, at_min_ = 0;  // how many nodes hold each extreme of now_
  size_t counted_ = 0;              // nodes with a score
  bool lost_ = false;               // an extreme may have been erased
};

}  // namespace tutti::framework
