// SPDX-License-Identifier: Apache-2.0
// Lightest: which of the members that wait are enough for the minimum: those that weigh least on the gang's queue, or
// those of highest priority.
//
// "Least" is of one resource: of two resources at once there may be no one choice. Cost: O(members log members).
#pragma once

#include <set>
#include <string_view>

#include "cluster/pod_class.h"
#include "cluster/state.h"
#include "core/gangs/census.h"
#include "model/resource_list.h"

namespace tutti::core {

// Returns what a pod of the class weighs on a queue: its requests, and one of "pods".
model::ResourceList WeightOf(const cluster::PodClass& pod_class);

// Returns as many of `pending` as are still to be placed, the lightest in the resource.
Members Lightest(const Members& pending, const Requirement& requirement, const cluster::ClusterState& state,
                 std::string_view resource);

// Returns as many of `pending` as are still to be placed, those of highest priority, and of equal ones the first.
// Fewer, if there are not so many.
Members HighestPriority(const Members& pending, const Requirement& requirement);

// Returns, for each of these resources by itself, what the members that are still to be placed weigh at least. A gang
// that is not granted this cannot start, whichever members are placed.
model::ResourceList LeastWeight(const Members& pending, const Requirement& requirement,
                                const cluster::ClusterState& state, const std::set<std::string_view>& resources);

}  // namespace tutti::core
