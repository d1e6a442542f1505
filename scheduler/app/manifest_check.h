// SPDX-License-Identifier: Apache-2.0
// What a person is told about a manifest before an API server would refuse it with fewer words, and what may pass that
// a stricter one would refuse.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/manifests/manifest.h"

namespace tutti::app {

// Quantities of Pods, Nodes and pod templates. Error: kInvalid, naming file, document, line, field and remedy.
base::Status CheckQuantities(const std::vector<sim::Manifest>& manifests);

// Annotations sim.tutti.dev/run-for, stop-after and exit-code of a pod or of a template in it. Error: kInvalid, naming
// file, document, line, field.
base::Status CheckLifetimes(const sim::Manifest& manifest);

// A CustomResourceDefinition without its bounds and types: objects that a cluster with a looser schema would store are
// stored, so that the scheduler's own reason is seen. Defaults and the names of the fields stay.
void Loosen(sim::Json& definition);

// What the label ray.io/scheduler-name of the first RayCluster or RayJob that has it says; empty: none has.
std::string BatchSchedulerAskedFor(const std::vector<sim::Manifest>& manifests);

}  // namespace tutti::app
