// SPDX-License-Identifier: Apache-2.0
// sim/kuberay/ray_start.h - the `ray start` command that KubeRay writes into a Ray container.
#pragma once

#include <map>
#include <string>

#include "sim/objects/object.h"

namespace tutti::sim::ray {

using StartParams = std::map<std::string, std::string>;

// rayStartParams of a group as written.
StartParams ReadStartParams(const Json& group);

// What KubeRay adds for every head, and for every worker of the head at `address`:`port`.
void CompleteHeadParams(StartParams& params);
void CompleteWorkerParams(StartParams& params, const std::string& address, const std::string& port);

// The command; `params` gain num-cpus, memory, num-gpus and accelerators from the container's resources.
std::string StartCommand(const std::string& node_type, StartParams& params, const Json& resources);

}  // namespace tutti::sim::ray
