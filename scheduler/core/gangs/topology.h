// SPDX-License-Identifier: Apache-2.0
// Topology: what a gang and its members ask for of topology, as it was declared.
#pragma once

#include <string>

#include "core/gangs/gang.h"

namespace tutti::core {

// True for a gang none of whose members asks for anything.
bool FreeOfTopology(const Gang& gang);

// Why what is asked for cannot be read; empty: it can.
std::string TopologyProblem(const Gang& gang);

// All that a gang and its members ask for, as text: equal texts, equal requests.
std::string TopologyText(const Gang& gang);

}  // namespace tutti::core
