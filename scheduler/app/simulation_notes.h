// SPDX-License-Identifier: Apache-2.0
// Notes beside the decisions of a simulation: for example, why a controller never made its pods.
#pragma once

#include <string>
#include <vector>

#include "sim/store/store.h"

namespace tutti::app {

// Returns notes about objects that change nothing in the embedded cluster (sim/api/without_effect.h, which reads
// `scheduler_names`), and the last warning of each controller about each object, by reason.
std::vector<std::string> SimulationNotes(const sim::Store& store, const std::vector<std::string>& scheduler_names = {});

}  // namespace tutti::app
