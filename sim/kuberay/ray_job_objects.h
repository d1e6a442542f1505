// SPDX-License-Identifier: Apache-2.0
// sim/kuberay/ray_job_objects.h - what a RayJob turns into: a RayCluster and a Job that submits to it.
#pragma once

#include <optional>
#include <string>

#include "sim/kuberay/ray_options.h"
#include "sim/objects/object.h"

namespace tutti::sim::ray {

Json BuildJobCluster(const Json& ray_job, const std::string& name);

// `ray_job` with jobId and dashboardURL in its status.
Json BuildSubmitterJob(const Json& ray_job, const Json& cluster, const KubeRayOptions& options);

// What the operator says of a RayJob it will not touch.
std::optional<std::string> JobSpecProblem(const Json& ray_job);

}  // namespace tutti::sim::ray
