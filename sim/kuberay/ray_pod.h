// SPDX-License-Identifier: Apache-2.0
// sim/kuberay/ray_pod.h - the pods of a RayCluster, as KubeRay builds them from its groups.
//
// Pure functions. What a batch scheduler wants added is in ray_batch_scheduler.h.
#pragma once

#include "sim/objects/object.h"

namespace tutti::sim::ray {

// REQUIRES: the spec has no SpecProblem.
Json BuildHeadPod(const Json& cluster);
Json BuildWorkerPod(const Json& cluster, const Json& group);

}  // namespace tutti::sim::ray
