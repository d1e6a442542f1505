// SPDX-License-Identifier: Apache-2.0
// NodeCheck: asks filters about one pod on one node as things are now, without a ranking of all nodes. It is for a pod
// whose node was chosen before: is that node still good enough? Each filter is prepared for one question. So for many
// questions about one class, or filters that look at all pods, a Ranking is cheaper.
#pragma once

#include <absl/functional/function_ref.h>

#include <optional>
#include <string>
#include <vector>

#include "cluster/pod_class.h"
#include "cluster/snapshot.h"
#include "framework/profile.h"
#include "model/ids.h"

namespace tutti::framework {

// What one filter says against a node, in kube-scheduler's words.
struct NodeRefusal {
  std::vector<std::string> reasons;
  bool of_class = false;  // every node is refused, whatever it is like
};

// Returns the refusal of the first filter of the profile that refuses the class on the node; nullopt: none does. Asks
// only filters for which `asks` returns true. REQUIRES: `n` is present.
std::optional<NodeRefusal> CheckNode(model::NodeId n, const cluster::PodClass& pod_class, const Profile& profile,
                                     const cluster::Snapshot& snapshot, absl::FunctionRef<bool(const Filter&)> asks);

// Returns what a pod of the class takes there besides room (FilterState::Choose), or nullopt where the node is not
// present or a filter refuses it: as Ranking::Feasible and TakingsOn say.
std::optional<cluster::Takings> FitsOn(model::NodeId n, const cluster::PodClass& pod_class, const Profile& profile,
                                       const cluster::Snapshot& snapshot);

}  // namespace tutti::framework
