// SPDX-License-Identifier: Apache-2.0
// Engine: the planner's answer to a Question. It is asked with pods and nodes, as in a cluster.
#pragma once

#include "framework/verdict.h"
#include "tests/exact/question.h"

namespace tutti::exact {

struct EngineAnswer {
  Layout layout;                             // gangs that found no place are empty in it
  std::vector<framework::Verdict> verdicts;  // by gang
};

// Places the gangs in their order, each on what those before it left. `packs`: with the objective for pods that ask for
// GPUs.
EngineAnswer Ask(const Question& question, bool packs);

}  // namespace tutti::exact
