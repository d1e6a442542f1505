// SPDX-License-Identifier: Apache-2.0
// DomainTree: nodes by the domains they are in, level below level: zones of blocks of racks.
#pragma once

#include <vector>

#include "cluster/snapshot.h"
#include "model/ids.h"

namespace tutti::core {

struct Domain {
  model::Symbol level, value;        // invalid value: the nodes that lack the level's label; both invalid: the root
  std::vector<model::NodeId> nodes;  // of this domain and all below it, by slot
  std::vector<Domain> parts;         // the level below; empty at the narrowest level
};

// Groups sorted `nodes` by `levels`; the order of `levels` does not matter. The parts are in the order of their first
// nodes. Sets `nested` to whether each domain lies within one domain of every wider level. If it does not, the tree is
// no picture of the levels.
Domain MakeDomainTree(std::vector<model::NodeId> nodes, std::vector<model::Symbol> levels,
                      const cluster::Snapshot& snapshot, bool* nested);

}  // namespace tutti::core
