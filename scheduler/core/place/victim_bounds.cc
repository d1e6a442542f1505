// SPDX-License-Identifier: Apache-2.0
#include "core/place/victim_bounds.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include "core/place/greedy.h"
#include "core/place/topology_rules.h"

namespace tutti::core {

using model::NodeId;
using model::ResourceId;

MemberAsks::MemberAsks(const Problem& problem, Rankings& rankings, const cluster::Snapshot& nodes)
    : columns_{cluster::kPodsColumn} {
  for (const MemberKind& kind : problem.kinds) {
    const auto at = std::ranges::find(classes_, kind.pod_class.get());
    class_of_.push_back(static_cast<size_t>(at - classes_.begin()));
    if (at != classes_.end()) continue;
    classes_.push_back(kind.pod_class.get());
    for (const ResourceId column : kind.pod_class->requests | std::views::keys)
      if (std::ranges::find(columns_, column) == columns_.end()) columns_.push_back(column);
  }
  for (size_t c = 0; c < classes_.size(); ++c) {
    const Amounts held = HeldBy(*classes_[c]);
    amounts_.insert(amounts_.end(), held.begin(), held.end());
    framework::Ranking& ranking = rankings.For(classes_[c]->shared_from_this());
    std::vector<char>& open = open_.emplace_back(nodes.slots());
    std::vector<const MemberKind*> kinds;
    for (size_t k = 0; k < class_of_.size(); ++k)
      if (class_of_[k] == c) kinds.push_back(&problem.kinds[k]);
    for (uint32_t slot = 0; slot < open.size(); ++slot) {
      const NodeId n(slot);
      open[slot] = !ranking.RefusedForGood(n) &&
                   std::ranges::any_of(kinds, [n](const MemberKind* kind) { return Admits(*kind, n); });
    }
  }
}

MemberAsks::Amounts MemberAsks::FreeOn(NodeId n, const cluster::Snapshot& nodes) const {
  Amounts free;
  for (const ResourceId column : columns_) free.push_back(nodes.Free(n, column));
  return free;
}

MemberAsks::Amounts MemberAsks::HeldBy(const cluster::PodClass& pod_class) const {
  Amounts held(columns_.size(), 0);
  held[0] = 1;
  for (const auto& [column, amount] : pod_class.requests)
    if (const auto place = PlaceOf(column)) held[*place] = amount;
  return held;
}

std::optional<size_t> MemberAsks::PlaceOf(ResourceId column) const {
  const auto at = std::ranges::find(columns_, column);
  if (at == columns_.end()) return std::nullopt;
  return static_cast<size_t>(at - columns_.begin());
}

int64_t MemberAsks::Room(size_t c, std::span<const int64_t> free) const {
  const std::span<const int64_t> ask = of(c);
  int64_t room = std::numeric_limits<int32_t>::max();
  for (size_t r = 0; r < free.size(); ++r)
    if (ask[r] > 0) room = std::min(room, std::max<int64_t>(0, free[r]) / ask[r]);
  return room;
}

VictimBounds::VictimBounds(const MemberAsks& asks, const Problem& problem, const cluster::Snapshot& nodes,
                           const std::vector<std::vector<NodeId>>& groups)
    : asks_(asks),
      problem_(problem),
      nodes_(nodes),
      groups_(groups),
      width_(asks.columns().size()),
      group_of_(nodes.slots(), kNoGroup),
      free_(nodes.slots() * width_) {
  for (uint32_t g = 0; g < groups.size(); ++g)
    for (const NodeId n : groups[g]) group_of_[n.index()] = g;
}

void VictimBounds::Count(NodeId n, int64_t sign) {
  const uint32_t group = group_of_[n.index()];
  if (group == kNoGroup) return;
  for (size_t c = 0; c < asks_.classes(); ++c)
    if (asks_.open(c, n)) room_[group][c] += sign * asks_.Room(c, At(n));
}

void VictimBounds::Begin(int32_t highest, const Evictable* evictable) {
  room_.assign(groups_.size(), std::vector<int64_t>(asks_.classes(), 0));
  for (const std::vector<NodeId>& group : groups_)
    for (const NodeId n : group) {
      std::ranges::copy(asks_.FreeOn(n, nodes_), At(n).begin());
      if (evictable)
        for (const Evictable::Held& held : evictable->On(n)) {
          if (held.priority > highest) break;
          if (const auto place = asks_.PlaceOf(held.column)) At(n)[*place] += held.amount;
        }
      Count(n, 1);
    }
}

void VictimBounds::Shift(const cluster::PodEntry& pod, int64_t sign) {
  if (group_of_[pod.node.index()] == kNoGroup) return;
  Count(pod.node, -1);
  AddAmounts(At(pod.node), asks_.HeldBy(*pod.pod_class), sign);
  Count(pod.node, 1);
}

// As Bounds::Most: of each demand's kinds as many as there is room for, each class for itself.
bool VictimBounds::Disproves(size_t group) const {
  for (const Demand& demand : problem_.demands) {
    absl::InlinedVector<int64_t, 8> left(room_[group].begin(), room_[group].end());
    int64_t most = 0;
    for (const size_t k : demand.kinds) {
      int64_t& room = left[asks_.class_of(k)];
      const int64_t taken = std::min<int64_t>(problem_.kinds[k].count(), room);
      room -= taken;
      most += taken;
    }
    if (most < demand.of_kinds()) return true;
  }
  return false;
}

bool VictimBounds::DisprovesAll() const {
  for (size_t g = 0; g < groups_.size(); ++g)
    if (!Disproves(g)) return false;
  return true;
}

}  // namespace tutti::core
