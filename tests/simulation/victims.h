// SPDX-License-Identifier: Apache-2.0
// Chooses which pods leave for which in the simulation: a plain choice, to see what becomes of it.
#pragma once

#include <vector>

#include "cluster/state.h"
#include "core/options.h"

namespace tutti::simulation {

// Returns lone pods of a lower priority than any of the gang's, from a few nodes; none, if there are none. Whether the
// gang fits without them is for the core to find out.
std::vector<core::ChosenVictim> ChooseVictims(const model::GangKey& gang, const std::vector<model::PodId>& members,
                                              const cluster::ClusterState& state);

}  // namespace tutti::simulation
