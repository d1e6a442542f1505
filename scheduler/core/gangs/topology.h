// SPDX-License-Identifier: Apache-2.0
// Topology: what a gang and its members ask for of topology, as it was declared.
#pragma once

#include <string>

#include "core/gangs/gang.h"

namespace tutti::core {

// Tells whether none of the gang's members asks for anything.
bool FreeOfTopology(const Gang& gang);

// Returns why what is asked for cannot be read; empty: it can.
std::string TopologyProblem(const Gang& gang);

// Returns all that a gang and its members ask for, as text: equal texts, equal requests.
std::string TopologyText(const Gang& gang);

}  // namespace tutti::core
