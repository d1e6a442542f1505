// SPDX-License-Identifier: Apache-2.0
// sim/kuberay/ray_service.h - the Services of a RayCluster and what its autoscaler runs under. Pure functions.
#pragma once

#include <vector>

#include "sim/objects/object.h"

namespace tutti::sim::ray {

Json BuildHeadService(const Json& cluster);
// For worker groups with several hosts a replica.
Json BuildHeadlessService(const Json& cluster);
bool NeedsHeadlessService(const Json& cluster);
// For clusters annotated to serve directly; null when the head has no port named "serve".
Json BuildServeService(const Json& cluster);

// ServiceAccount (unless the template names one), Role, RoleBinding, in this order.
std::vector<Json> BuildAutoscalerAccess(const Json& cluster);

}  // namespace tutti::sim::ray
