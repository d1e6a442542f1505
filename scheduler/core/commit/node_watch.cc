// SPDX-License-Identifier: Apache-2.0
#include "core/commit/node_watch.h"

#include <algorithm>
#include <string>
#include <vector>

#include "framework/node_check.h"

namespace tutti::core {

using model::GangId;
using model::MemberId;
using model::PodId;
using Stage = Assignment::Stage;

void NodeWatch::OnNodeGone(model::NodeId node) {
  const std::string name = state_.snapshot().node(node).name;
  for (const GangId id : plans_.all()) {
    Gang& gang = book_.at(id);
    std::vector<MemberId> unsent;
    for (auto& [member, assignment] : gang.plan->open)
      if (assignment.node == name) {
        assignment.room_lost = true;
        gang.census.reset();
        if (assignment.stage == Stage::kReserved) unsent.push_back(member);
        agenda_.MarkReady(id);
      }
    for (const MemberId member : unsent) plans_.Release(gang, book_.at(member));
  }
}

// What the pod asks for, as all that is there or held leaves it.
bool NodeWatch::HasRoom(model::NodeId node, PodId pod) const {
  const cluster::Snapshot& snapshot = state_.snapshot();
  return snapshot.Free(node, cluster::kPodsColumn) >= 0 &&
         std::ranges::all_of(state_.pod(pod).pod_class->requests,
                             [&](const auto& request) { return snapshot.Free(node, request.first) >= 0; });
}

// What the filters that judge a node alone say of it.
bool NodeWatch::StillTakes(model::NodeId node, PodId id) const {
  using framework::Wake;
  constexpr Wake kOfNodeAlone = Wake::kNodeAdded | Wake::kNodeLabels | Wake::kNodeTaints;
  const auto of_node_alone = [](const framework::Filter& filter) {
    return !framework::Any(filter.WakesOn() & ~kOfNodeAlone);
  };
  const cluster::PodEntry& pod = state_.pod(id);
  const framework::Profile* profile = framework::FindProfile(options_.profiles, pod.pod->spec->scheduler_name);
  return !profile || !framework::CheckNode(node, *pod.pod_class, *profile, state_.snapshot(), of_node_alone);
}

// Volumes take long to be made, and a node may be cordoned in the meantime, or filled by others. Once a bind of a gang
// that starts has left, the rest goes to a cordoned node all the same, for undoing the gang would cost more; but not
// where the kubelet would reject it.
void NodeWatch::OnNodeChanged(model::NodeId node) {
  const std::string& name = state_.snapshot().node(node).name;
  for (const GangId id : plans_.all()) {
    Gang& gang = book_.at(id);
    const bool started = !gang.whole && gang.plan->bind_left;
    std::vector<MemberId> there;
    for (const auto& [member, assignment] : gang.plan->open)
      if (assignment.stage == Stage::kReserved && assignment.node == name) there.push_back(member);
    for (const MemberId member : there) {  // one that goes may leave room enough for the next
      const PodId pod = book_.at(member).pod;
      if (HasRoom(node, pod) && (started || StillTakes(node, pod))) continue;
      plans_.Release(gang, book_.at(member));
      agenda_.MarkReady(id);
    }
  }
}

void NodeWatch::OnRoomTaken(model::NodeId node, PodId by) {
  if (plans_.any() && !HasRoom(node, by)) OnNodeChanged(node);
}

void NodeWatch::OnNodeCame(model::NodeId node) {
  const std::string& name = state_.snapshot().node(node).name;
  for (const GangId id : plans_.all()) {
    Gang& gang = book_.at(id);
    for (auto& [member, assignment] : gang.plan->open)
      if (assignment.room_lost && assignment.node == name) {
        assignment.room_lost = false;
        gang.census.reset();
        plans_.Hold(book_.at(member).pod, node);
        charges_.Update(gang, book_.at(member));
        agenda_.MarkReady(id);
      }
  }
}

}  // namespace tutti::core
