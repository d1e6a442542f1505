// SPDX-License-Identifier: Apache-2.0
// Solver: the best layout, by CBC, an exact solver of integer programs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "tests/exact/question.h"

namespace tutti::exact {

// What is best: the most gangs; or, as a queue is served, the first gang above all others, then the second, and so on.
// Then the most whole nodes.
enum class Goal { kMost, kInOrder };

// The best layout; of a single gang any, or an empty one if there is none. Error: the solver is missing, ran out of
// time, or said what was not understood.
base::Result<Layout> Solve(const Question& question, Goal goal, int limit_s);

// The variables that are not 0 in the best solution of a program in CPLEX's LP format. Error: as of Solve.
base::Result<std::map<std::string, double>> SolveProgram(const std::string& program, int limit_s);

// The equations, in CPLEX's LP format.
std::string Program(const Question& question, Goal goal);

}  // namespace tutti::exact
