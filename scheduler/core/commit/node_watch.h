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

  // The node is about to be dropped.
  void OnNodeGone(model::NodeId node);
  // Its labels, taints or capacity are others now.
  void OnNodeChanged(model::NodeId node);
  // A pod that no plan put there takes room on it.
  void OnRoomTaken(model::NodeId node, model::PodId by);
  // A node of a name that was not there has come: a bind that was sent to that name, and may have happened, holds room
  // on it.
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
