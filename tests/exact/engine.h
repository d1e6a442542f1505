// SPDX-License-Identifier: Apache-2.0
// Engine: what the planner answers to a Question, asked with pods and nodes as in a cluster.
#pragma once

#include "framework/verdict.h"
#include "tests/exact/question.h"

namespace tutti::exact {

struct EngineAnswer {
  Layout layout;                             // gangs that found no place are empty in it
  std::vector<framework::Verdict> verdicts;  // by gang
};

// The gangs in their order, each on what those before it left. `packs`: with the objective for pods that ask for GPUs.
EngineAnswer Ask(const Question& question, bool packs);

}  // namespace tutti::exact
