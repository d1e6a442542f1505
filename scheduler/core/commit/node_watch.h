// SPDX-License-Identifier: Apache-2.0
// NodeWatch: keeps the room that plans hold in line with the nodes it is on, which come, go, change and fill up.
#pragma once

#include "cluster/state.h"
#include "core/commit/plans.h"

namespace tutti::core {

class NodeWatch {
 public:
  NodeWatch(const Options& options, cluster::ClusterState& state, GangBook& book, Agenda& agenda, Plans& plans,
            Charges& charges)
      : options_(options), state_(state), book_(book), agenda_(agenda), plans_(plans), charges_(charges) {}

  // Handles a node that is about to be dropped.
  void OnNodeGone(model::NodeId node);
  // Handles a node whose labels, taints or capacity changed.
  void OnNodeChanged(model::NodeId node);
  // Handles a pod that takes room on the node and was put there by no plan.
  void OnRoomTaken(model::NodeId node, model::PodId by);
  // Handles a new node: a bind that was sent to its name before, and may have happened, holds room on it.
  void OnNodeCame(model::NodeId node);

 private:
  bool HasRoom(model::NodeId node, model::PodId pod) const;
  bool StillTakes(model::NodeId node, model::PodId pod) const;

  const Options& options_;
  cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Plans& plans_;
  Charges& charges_;
};

}  // namespace tutti::core
