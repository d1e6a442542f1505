// SPDX-License-Identifier: Apache-2.0
// Normalizer: the raw scores of one normalising plugin over the feasible nodes, and what they become.
//
// Use: Erase and Insert for every node that changes; then Settle(), which says whether the extremes moved; if so, every
// node's share changed from OldShare to Share. Until some raw score is not 0 it is flat: nothing is stored or counted.
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

  // The raw score of a slot becomes feasible, or ceases to be.
  void Insert(size_t slot, int64_t raw, size_t slots);
  void Erase(size_t slot);
  // Takes all raw scores at once; those of refused slots are not looked at.
  void Assign(std::span<const RefusedBy> refused_by, std::span<const int64_t> raw);

  // Finds the extremes anew where an extreme was erased. True when Share has changed for all nodes.
  bool Settle(std::span<const RefusedBy> refused_by);

  // Over the feasible nodes that have a score; both 0 when there are none.
  struct Extremes {
    int64_t max = 0, min = 0;
  };
  // 0..100; the raw score where nothing is normalised.
  static int64_t ShareOf(Normalize kind, int64_t raw, const Extremes& extremes);
  // It has a say in the extremes.
  static bool Counts(Normalize kind, int64_t raw) { return kind != Normalize::kSpread || raw != kNoScore; }

  // 0..100, by the extremes of the last Settle and of the one before.
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
  bool lost_ = false;               // an extreme may have gone
};

}  // namespace tutti::framework
