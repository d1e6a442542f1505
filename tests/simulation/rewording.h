// SPDX-License-Identifier: Apache-2.0
// Commands that say nothing new, which a scheduler without memory may write at rest. Pure functions.
#pragma once

#include "cluster/command.h"
#include "sim/store/store.h"
#include "tests/simulation/truth.h"

namespace tutti::simulation {

// Tells whether it writes the words that the pod has already, so that an earlier leader's bind of it fails.
bool OnlyTouches(const cluster::Command& command, const Truth& truth);
// Tells whether it leaves all conditions of a Workload as they are, and only their sentences are other ones. As in
// Kueue, those have the figures of the last time that it was its turn.
bool OnlyRewords(const cluster::Command& command, const sim::Store& store);

}  // namespace tutti::simulation
