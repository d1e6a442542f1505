// SPDX-License-Identifier: Apache-2.0
// sim/api/without_effect.h - what of an object changes nothing in the embedded cluster, though it would in another one.
#pragma once

#include <string>
#include <vector>

#include "sim/objects/object.h"
#include "sim/objects/resources.h"

namespace tutti::sim {

// A sentence for each such thing: a kind that no controller works off, one that is only kept, a workload that is
// suspended, a taint that evicts no pod, a pod that no scheduler takes. No sentence has the object's name in it.
// `scheduler_names` are those that are served; empty: not known.
std::vector<std::string> WithoutEffect(const ApiResource& resource, const Json& object,
                                       const std::vector<std::string>& scheduler_names);

}  // namespace tutti::sim
