// SPDX-License-Identifier: Apache-2.0
// Solver: the best layout, by CBC, an exact solver of integer programs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "tests/exact/question.h"

namespace tutti::exact {

// What is best: the most gangs; or, as in a queue, the first gang before all others, then the second, and so on. Among
// equals it is the layout with the most whole nodes.
enum class Goal { kMost, kInOrder };

// Returns the best layout; nullopt: it was not found in that time. For a single gang that is any layout, or an empty
// one if there is none. Error: the solver is missing, or its answer was not understood.
base::Result<std::optional<Layout>> Solve(const Question& question, Goal goal, int limit_s);

// Returns the variables that are not 0 in the best solution of a program in CPLEX's LP format; nullopt and errors as
// Solve's.
using Values = std::map<std::string, double>;
base::Result<std::optional<Values>> SolveProgram(const std::string& program, int limit_s);

// Returns the equations, in CPLEX's LP format.
std::string Program(const Question& question, Goal goal);

}  // namespace tutti::exact
