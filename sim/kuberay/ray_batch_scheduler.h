// SPDX-License-Identifier: Apache-2.0
// sim/kuberay/ray_batch_scheduler.h - what the operator's --batch-scheduler adds: PodGroups before the pods, and
// metadata on each pod.
#pragma once

#include <optional>
#include <string>

#include "sim/kuberay/ray_options.h"
#include "sim/store/store.h"

namespace tutti::sim::ray {

// Creates or resizes the PodGroup of a RayCluster, where the scheduler has one. Returns what went wrong.
std::optional<std::string> SyncPodGroup(Store& store, const KubeRayOptions& options, const Json& cluster);

// The same for a RayJob and all that runs for it; later releases only. `cluster` is null once it is deleted.
std::optional<std::string> SyncJobPodGroup(Store& store, const KubeRayOptions& options, const Json& ray_job,
                                           const Json& cluster);

// Labels, annotations and the schedulerName of a pod, or pod template, of `group`. `parent` is the RayCluster, or for
// the submitter the RayJob.
void AddBatchMetadata(const KubeRayOptions& options, const Json& parent, const std::string& group, Json& pod);

}  // namespace tutti::sim::ray
