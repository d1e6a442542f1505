// SPDX-License-Identifier: Apache-2.0
#include "core/passes/stated_places.h"

#include <algorithm>

namespace tutti::core {

using model::GangId;
using model::NodeId;
using Place = model::HeldQuota::Place;

namespace {

// A node that has failed is not Ready soon, and then refuses pods by itself.
constexpr base::Millis kShunnedMs = 300'000;

}  // namespace

void StatedPlaces::Keep(GangId id) {
  const auto places = desk_.TakePlaces(id);
  if (places.empty()) return;
  promises_.Follow(id);
  const Gang& gang = book_.at(id);
  const auto has_node = [this](const Member* member) { return state_.pod(member->pod).node.valid(); };
  if (gang.plan || std::ranges::any_of(gang.members, has_node)) return;
  for (const auto& [role, of_role] : places) {
    std::vector<Member*> members;
    for (Member* member : gang.members) {
      const model::Pod& pod = *state_.pod(member->pod).pod;
      const bool waits = member->promised ||
                         (!member->held_back && pod.scheduling_gates.empty() && !pod.done() && !pod.meta.deleting());
      if (member->role == role && waits) members.push_back(member);
    }
    for (const Place& place : of_role)
      if (!place.failed) Reserve(id, place, &members);
    Shun(of_role, members);
  }
}

void StatedPlaces::Reserve(GangId id, const Place& place, std::vector<Member*>* members) {
  int64_t left = std::min(place.count, std::ssize(*members));
  for (const NodeId node : NodesIn(place))
    for (; left > 0; --left) {
      const auto placement = planner_.PlaceOn(*members->front(), node);
      if (!placement) break;
      committer_.Reserve(id, {*placement});
      members->erase(members->begin());
    }
}

void StatedPlaces::Shun(const std::vector<Place>& places, const std::vector<Member*>& members) const {
  for (const Place& place : places) {
    if (!place.failed) continue;
    for (const NodeId node : NodesIn(place))
      for (Member* member : members) {
        if (!member->refused) member->refused.emplace();
        member->refused->nodes[state_.snapshot().node(node).name] = clock_.MonotonicMs() + kShunnedMs;
      }
  }
}

std::vector<NodeId> StatedPlaces::NodesIn(const Place& place) const {
  const cluster::Snapshot& nodes = state_.snapshot();
  if (!nodes.labels().MayIndex(nodes.symbols().Intern(place.level))) return {};
  const auto in = nodes.labels().NodesIn(nodes.symbols().Intern(place.level), nodes.symbols().Intern(place.value));
  std::vector<NodeId> sorted(in.begin(), in.end());
  std::ranges::sort(sorted);
  return sorted;
}

}  // namespace tutti::core
