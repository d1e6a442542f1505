// SPDX-License-Identifier: Apache-2.0
// Topology requests as rules: which conditions a gang's placement is to meet, the most wanted first.
#pragma once

#include <vector>

#include "cluster/state.h"
#include "core/gangs/gang.h"
#include "core/place/problem.h"

namespace tutti::core {

// What is tried one after another: the first set of rules that can be obeyed is. The last is what must be obeyed; it is
// empty where nothing is required. Never empty itself.
using RuleSets = std::vector<std::vector<Rule>>;

struct Rules {
  RuleSets sets;
  bool all = true;        // false: there are ways to meet what is required that are in none of the sets
  bool any_does = false;  // the last set is as strict as others, so a refusal must disprove every set
};

// Makes the rules of the gang's topology requests. Members of `gang` that hold a node count as `held`.
Rules MakeRules(const Gang& gang, const Problem& problem, const cluster::ClusterState& state);

// Tells whether `spots` obey the rules, together with what is held.
bool Obeyed(const std::vector<Rule>& rules, const std::vector<Spot>& spots, const cluster::Snapshot& snapshot);

// Tells whether what is held breaks the rule already, so that no more members can be placed under it.
bool Broken(const Rule& rule, const Problem& problem);

}  // namespace tutti::core
