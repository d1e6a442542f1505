// SPDX-License-Identifier: Apache-2.0
// sim/kuberay/ray_status.h - the status of a RayCluster, from its pods and services. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/objects/object.h"

namespace tutti::sim::ray {

// What a round of reconciling came to: an error's text, and for failed creations and deletions the reason that goes
// into the ReplicaFailure condition.
struct Outcome {
  std::optional<std::string> error;
  std::string failure_reason;
};

// "Suspending", "Suspended" or "": where a suspension stands by the conditions.
std::string SuspendState(const Json& cluster);

// `pods`: all that carry the cluster's label. `head_services`: those found by the head's labels.
Json NewStatus(const Json& cluster, const std::vector<Object>& pods, const std::vector<Object>& head_services,
               const Outcome& outcome, base::Millis now_ms);

// Tells whether the operator would write `next`: some fields alone are not worth a write to it.
bool WorthWriting(const Json& before, const Json& next);

}  // namespace tutti::sim::ray
