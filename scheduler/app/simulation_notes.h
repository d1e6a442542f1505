// SPDX-License-Identifier: Apache-2.0
// What a person should know beside the decisions of a simulation: why pods that were asked for were never made.
#pragma once

#include <string>
#include <vector>

#include "sim/store/store.h"

namespace tutti::app {

// What changes nothing in the embedded cluster (sim/api/without_effect.h, also for `scheduler_names`), and the last
// warning of each controller about each object, by reason.
std::vector<std::string> SimulationNotes(const sim::Store& store, const std::vector<std::string>& scheduler_names = {});

}  // namespace tutti::app
