// SPDX-License-Identifier: Apache-2.0
// What a person should know beside the decisions of a simulation: why pods that were asked for were never made.
#pragma once

#include <string>
#include <vector>

#include "sim/store.h"

namespace tutti::app {

// Kinds with a pod template that no controller of the embedded cluster works off, and the last warning of each
// controller about each object, by reason.
std::vector<std::string> SimulationNotes(const sim::Store& store);

}  // namespace tutti::app
