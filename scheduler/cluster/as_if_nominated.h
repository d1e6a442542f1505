// SPDX-License-Identifier: Apache-2.0
// AsIfNominated: a speculation in which nominated pods (cluster/nominations.h) are where room is kept for them.
#pragma once

#include <functional>
#include <vector>

#include "cluster/state.h"
#include "cluster/what_if.h"

namespace tutti::cluster {

// Pods of at least this priority count, but for those that the question is about.
struct NominatedFor {
  int32_t priority = 0;
  std::function<bool(model::PodId)> is_own;
};

// The nominated pod counts for `asked`, and is neither bound nor reserved.
bool CountsFor(const ClusterState& state, model::PodId nominated, const NominatedFor& asked);

// The nominated pods that count for `asked` and are neither bound nor reserved, with their nodes; those of nodes that
// are not there are left out. In the same order for the same history.
std::vector<Placement> NominatedPods(const ClusterState& state, const NominatedFor& asked);

// While it lives, the snapshot is as if they were placed. O(them), and rankings catch up with their nodes alone.
class AsIfNominated {
 public:
  // `only`: those of this node; invalid: all.
  AsIfNominated(WhatIf& what_if, const std::vector<Placement>& pods, model::NodeId only = {});

 private:
  WhatIf::Scope scope_;
};

}  // namespace tutti::cluster
