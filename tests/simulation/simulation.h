// SPDX-License-Identifier: Apache-2.0
// Simulation: one seed's run of one scenario. The real scheduler works on the embedded cluster, under a virtual clock,
// with every fault that the scenario names. The invariants are checked after each step.
//
// A step is one event that is handed to a scheduler, or one command that the API server is done with. The command's
// answer is not counted again. The same run gives the same log, byte for byte.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/checks.h"
#include "tests/simulation/scenario.h"

namespace tutti::simulation {

struct Run {
  Scenario scenario;
  uint64_t seed = 1;
  std::set<size_t> without_actions;  // left out of the workload, for shrinking
  std::set<std::string> without_faults;
  bool trace = false;  // collect what happened, as text
  Plant* plant = nullptr;
  // Is told each line of the trace as it happens, instead of collecting it: these lines survive a crash.
  std::function<void(const std::string&)> tell = nullptr;
};

struct Outcome {
  std::optional<Violation> violation;
  int64_t steps = 0, calm_steps = 0;  // while faults strike, and while they do not
  base::Millis hostile_ms = 0;        // of the world's time, while faults strike
  int64_t actions = 0, calms = 0, commands = 0;
  int64_t node_sum = 0, gang_sum = 0, turns = 0;
  int64_t turns_of_all_kinds = 0;  // in which no kind was removed
  std::map<std::string, uint64_t> faults;
  std::map<std::string, Asked> asked;  // by invariant
  struct Reliefs {
    uint64_t times = 0, of_use = 0;  // how often a gang started by it
  };
  std::map<std::string, Reliefs> reliefs;  // by kind
  uint64_t log_hash = 0;                   // of every command with its time
  std::vector<std::string> trace;
};

Outcome Simulate(const Run& run);
// Does the same in a process that ends afterwards: nothing is freed.
Outcome SimulateLast(const Run& run);

}  // namespace tutti::simulation
