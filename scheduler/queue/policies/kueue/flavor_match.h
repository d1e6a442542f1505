// SPDX-License-Identifier: Apache-2.0
// Whether pods may be of a flavor, by its taints and labels.
#pragma once

#include <string>

#include "model/flavor.h"
#include "model/pod_spec.h"

namespace tutti::queue {

// Says why the pod may not be of the flavor: a taint that neither tolerates, or a node selector or required affinity
// that its labels do not meet. Only labels that the flavor has are compared. Empty: it may.
std::string MismatchOf(const model::PodSpec& pod, const model::Flavor& flavor);

}  // namespace tutti::queue
