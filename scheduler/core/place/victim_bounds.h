// SPDX-License-Identifier: Apache-2.0
// VictimBounds: how many members of a gang there is room for at most, by amounts alone, once some victims are gone. No
// filter is asked but those that do not read pods, and these once for each class and node.
//
// Where it says that the members do not fit, no search finds a place for them. One victim that goes, or comes back,
// costs as much as it has pods. Scheduler thread only.
#pragma once

#include <absl/container/inlined_vector.h>

#include <optional>
#include <span>
#include <vector>

#include "cluster/state.h"
#include "core/place/evictable.h"
#include "core/place/problem.h"
#include "core/place/rankings.h"

namespace tutti::core {

// Adds `times` the amounts to those at the same places.
inline void AddAmounts(std::span<int64_t> to, std::span<const int64_t> amounts, int64_t times = 1) {
  for (size_t r = 0; r < to.size(); ++r) to[r] += times * amounts[r];
}

// What the members of a problem ask for, by class and column; and where they can be.
class MemberAsks {
 public:
  // `problem` and `rankings` must outlive it.
  MemberAsks(const Problem& problem, Rankings& rankings, const cluster::Snapshot& nodes);

  size_t classes() const { return classes_.size(); }
  const cluster::PodClass& pod_class(size_t c) const { return *classes_[c]; }
  size_t class_of(size_t kind) const { return class_of_[kind]; }
  // Returns the columns that some class asks for; pods are one of them.
  std::span<const model::ResourceId> columns() const { return columns_; }
  std::span<const int64_t> of(size_t c) const { return {&amounts_[c * columns_.size()], columns_.size()}; }
  // Tells whether members of the class may be on the node, whatever pods there are.
  bool open(size_t c, model::NodeId n) const { return open_[c][n.index()]; }

  using Amounts = absl::InlinedVector<int64_t, 6>;  // by place among columns()
  Amounts FreeOn(model::NodeId n, const cluster::Snapshot& nodes) const;
  // Returns what a pod of the class holds.
  Amounts HeldBy(const cluster::PodClass& pod_class) const;
  // Returns how many members of the class fit into this.
  int64_t Room(size_t c, std::span<const int64_t> free) const;
  // Returns the column's place among columns(), if it is one of them.
  std::optional<size_t> PlaceOf(model::ResourceId column) const;

 private:
  std::vector<const cluster::PodClass*> classes_;
  std::vector<size_t> class_of_;  // by kind
  std::vector<model::ResourceId> columns_;
  std::vector<int64_t> amounts_;         // by class and column
  std::vector<std::vector<char>> open_;  // by class and slot
};

class VictimBounds {
 public:
  // `groups`: a placement lies within one of these; they do not overlap. All must outlive it.
  VictimBounds(const MemberAsks& asks, const Problem& problem, const cluster::Snapshot& nodes,
               const std::vector<std::vector<model::NodeId>>& groups);

  // Frees all that pods up to `highest` hold, and nothing else.
  void FreeUpTo(int32_t highest, const Evictable& evictable) { Begin(highest, &evictable); }
  // Sets all back to what is there, with what is speculated.
  void Reset() { Begin(0, nullptr); }
  // Take one pod from its node, or put it back.
  void Go(const cluster::PodEntry& pod) { Shift(pod, 1); }
  void ComeBack(const cluster::PodEntry& pod) { Shift(pod, -1); }

  // Tell whether the members do not fit into the group; into any group.
  bool Disproves(size_t group) const;
  bool DisprovesAll() const;

 private:
  // `evictable` null: nothing is gone.
  void Begin(int32_t highest, const Evictable* evictable);
  void Shift(const cluster::PodEntry& pod, int64_t sign);
  // Adds the node's room to its group's, or takes it off.
  void Count(model::NodeId n, int64_t sign);
  std::span<int64_t> At(model::NodeId n) { return {&free_[n.index() * width_], width_}; }

  static constexpr uint32_t kNoGroup = ~uint32_t{0};
  const MemberAsks& asks_;
  const Problem& problem_;
  const cluster::Snapshot& nodes_;
  const std::vector<std::vector<model::NodeId>>& groups_;
  const size_t width_;                      // columns
  std::vector<uint32_t> group_of_;          // by slot
  std::vector<int64_t> free_;               // by slot and column
  std::vector<std::vector<int64_t>> room_;  // by group and class
};

}  // namespace tutti::core
