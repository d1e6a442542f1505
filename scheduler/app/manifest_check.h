// SPDX-License-Identifier: Apache-2.0
// Checks of manifests. Their errors say more than the API server's would. Objects that only a stricter API server
// refuses may pass.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/manifests/manifest.h"

namespace tutti::app {

// Checks the quantities of Pods, Nodes and pod templates. Error: kInvalid, naming file, document, line, field and
// remedy.
base::Status CheckQuantities(const std::vector<sim::Manifest>& manifests);

// Checks the annotations sim.tutti.dev/run-for, stop-after and exit-code of a pod, or of a pod template in the
// manifest. Error: kInvalid, naming file, document, line and field.
base::Status CheckLifetimes(const sim::Manifest& manifest);

// Removes bounds and types from a CustomResourceDefinition. An invalid object is then stored, so that the user sees the
// scheduler's reason. Defaults and names of fields stay.
void Loosen(sim::Json& definition);

// Returns the label ray.io/scheduler-name of the first RayCluster or RayJob that has it; empty if none has.
std::string BatchSchedulerAskedFor(const std::vector<sim::Manifest>& manifests);

}  // namespace tutti::app
