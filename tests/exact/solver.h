// SPDX-License-Identifier: Apache-2.0
// Solver: the best layout, by CBC, an exact solver of integer programs.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "tests/exact/question.h"

namespace tutti::exact {

// The layout with the most gangs, and of those the one with the most whole nodes; a single gang: any, or an empty one
// if there is none. Error: the solver is missing, ran out of time, or said what was not understood.
base::Result<Layout> Solve(const Question& question, int limit_s);

// The equations, in CPLEX's LP format.
std::string Program(const Question& question);

}  // namespace tutti::exact
