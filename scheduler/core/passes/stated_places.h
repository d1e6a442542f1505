// SPDX-License-Identifier: Apache-2.0
// StatedPlaces: where the members of a gang are that comes with its quota, as its object states it. Their nodes are
// reserved before anything else is placed, so that no other gang gets them.
#pragma once

#include <vector>

#include "core/admit/quota_desk.h"
#include "core/commit/committer.h"
#include "core/passes/promises.h"
#include "core/place/planner.h"

namespace tutti::core {

class StatedPlaces {
 public:
  StatedPlaces(cluster::ClusterState& state, GangBook& book, QuotaDesk& desk, Committer& committer, Planner& planner,
               Promises& promises, const base::Clock& clock)
      : state_(state),
        book_(book),
        desk_(desk),
        committer_(committer),
        planner_(planner),
        promises_(promises),
        clock_(clock) {}

  // Reserves nodes for members without one, as far as they are where the gang's object says, and have room. The others
  // are placed as any gang's are, for a while on none of the nodes that are said to have failed. No effect on a gang
  // with a pod on a node: its pods say where it is. REQUIRES: the gang has quota, and is to have nodes.
  void Keep(model::GangId id);

 private:
  // Reserves nodes of the place for these members, and takes out those that have one.
  void Reserve(model::GangId id, const model::HeldQuota::Place& place, std::vector<Member*>* members);
  void Shun(const std::vector<model::HeldQuota::Place>& places, const std::vector<Member*>& members) const;
  std::vector<model::NodeId> NodesIn(const model::HeldQuota::Place& place) const;

  cluster::ClusterState& state_;
  GangBook& book_;
  QuotaDesk& desk_;
  Committer& committer_;
  Planner& planner_;
  Promises& promises_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
