// SPDX-License-Identifier: Apache-2.0
// sim/kuberay/ray_sizes.h - how many pods a RayCluster wants, what they ask for, and whether its spec can be
// worked with at all. `cluster` is a RayCluster; `spec` is its spec, or the rayClusterSpec of a RayJob.
#pragma once

#include <optional>
#include <string>

#include "sim/objects/object.h"

namespace tutti::sim::ray {

// Ray's own container; null where the template lists none.
const Json& FirstContainer(const Json& pod_template);

bool IsAutoscaled(const Json& spec);
bool IsAutoscalerV2(const Json& spec);
bool HasFaultTolerance(const Json& cluster);

// Pods of one worker group: replicas within its bounds, times hosts; none when it is suspended.
int64_t DesiredWorkers(const Json& group);
int64_t DesiredWorkersOfAll(const Json& spec);
int64_t MinWorkersOfAll(const Json& spec);
int64_t MaxWorkersOfAll(const Json& spec);

// Requests of all containers, and limits where there is no request. Init containers do not count.
Json PodResources(const Json& pod_spec);
// Sum by resource, into `total`.
void AddResources(Json& total, const Json& resources, int64_t times);
// Of the head and all replicas as written (bounds are not applied), or of the head and the minima.
Json DesiredResources(const Json& spec);
Json MinResources(const Json& spec);
bool SameResources(const Json& a, const Json& b);

// It is another operator's: spec.managedBy says so.
bool IsManagedElsewhere(const Json& object);
// What the operator says of a RayCluster it will not touch.
std::optional<std::string> MetadataProblem(const Json& meta, const char* kind, size_t max_name_length);
std::optional<std::string> SpecProblem(const Json& spec, const Json& annotations);

}  // namespace tutti::sim::ray
