// SPDX-License-Identifier: Apache-2.0
// How many pods a RayCluster has, and how many of them its gang needs.
#pragma once

#include "cluster/json_reader.h"
#include "model/gang.h"
#include "model/object.h"

namespace tutti::dialects {

enum class RayCount {
  kKept,        // those that KubeRay keeps (ray-operator, GetWorkerGroupDesiredReplicas)
  kAutoscaled,  // the least that it keeps with its autoscaler
  kKai,         // those for which KAI's pod grouper waits: minReplicas, or replicas where there are none
};

// A worker group as a role. What cannot be read is a problem of `read`.
model::RoleSpec ReadWorkerGroup(cluster::JsonReader& read, const cluster::JsonField& group, RayCount count);

// All pods that KubeRay makes for the RayCluster, the head among them; 0: it cannot be told.
int64_t PodsOf(const model::Object& cluster);

}  // namespace tutti::dialects
