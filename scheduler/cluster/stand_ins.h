// SPDX-License-Identifier: Apache-2.0
// StandIns: reservations that stand in for pods which leave their node (victims).
//
// While victims of a gang leave a node, what they ask for and what is reserved there for the gang is counted once: of
// each resource the node holds the larger of the two. So no other pod takes the room that becomes free, and nothing is
// short while both are there. ClusterState owns this and tells it of every pod and reservation. One thread.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <utility>
#include <vector>

#include "cluster/columns.h"
#include "cluster/pod_class.h"
#include "cluster/snapshot.h"
#include "model/ids.h"

namespace tutti::cluster {

class StandIns {
 public:
  enum class Side { kVictim, kReservation };

  explicit StandIns(Snapshot& snapshot) : snapshot_(snapshot) {}

  // One more victim of the gang is on the node, or one less. Neither counts anything. True: it is the first.
  bool Mark(model::NodeId node, model::GangId of) { return ++at_[{node, of}].victims == 1; }
  void Unmark(model::NodeId node, model::GangId of);
  // A pod of the class came to the node (+1) or left it (-1), on that side. Does nothing where the gang has no victims.
  void Count(model::NodeId node, model::GangId of, const PodClass& pod_class, Side side, int by);

  bool empty() const { return at_.empty(); }

 private:
  // What both sides ask for of one resource.
  struct Sum {
    model::ResourceId column;
    Columns::Wide victims = 0, reservations = 0;
  };
  struct StandIn {
    uint32_t victims = 0;
    std::vector<Sum> sums;
  };

  Snapshot& snapshot_;
  absl::flat_hash_map<std::pair<model::NodeId, model::GangId>, StandIn> at_;  // where a gang has victims
};

}  // namespace tutti::cluster
