// SPDX-License-Identifier: Apache-2.0
// FitsOn: whether one node takes a pod of a class, without a ranking of all nodes.
#pragma once

#include <optional>

#include "cluster/snapshot.h"
#include "framework/profile.h"

namespace tutti::framework {

// Returns what a pod of the class takes there besides room (FilterState::Choose), or nullopt where a filter refuses the
// node or the class: as Ranking::Feasible and TakingsOn say. It asks no score, and prepares the filters for this answer
// alone. So for many answers about one class, or filters that look at all pods, a Ranking is cheaper.
std::optional<cluster::Takings> FitsOn(const Profile& profile, const cluster::PodClass& pod_class,
                                       const cluster::Snapshot& snapshot, model::NodeId n);

}  // namespace tutti::framework
