// SPDX-License-Identifier: Apache-2.0
// sim/kuberay/ray_definitions.h - RayCluster and RayJob as CustomResourceDefinitions, written for the embedded
// cluster: versions, fields, defaults and columns are KubeRay's, pod templates are taken as they come.
#pragma once

#include <vector>

#include "sim/objects/object.h"

namespace tutti::sim {

std::vector<Json> RayDefinitions();

}  // namespace tutti::sim
