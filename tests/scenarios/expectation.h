// SPDX-License-Identifier: Apache-2.0
// Expectation: compares what a scenario expects with what is there.
#pragma once

#include <string>
#include <vector>

#include "sim/objects/object.h"
#include "tests/scenarios/stage.h"

namespace tutti::scenarios {

// Returns what does not hold of one `expect`, one sentence for each; empty if all holds. An unknown word is a complaint
// too.
std::vector<std::string> CheckExpectation(Stage& stage, const sim::Json& expect);

// Returns the pods and gangs as they stand, for a person to read.
std::string Show(Stage& stage);

}  // namespace tutti::scenarios
