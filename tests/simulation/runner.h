// SPDX-License-Identifier: Apache-2.0
// Runner: many seeds, each in a process of its own so that a crash is a finding like any other; what fails is shrunk.
#pragma once

#include <string>
#include <vector>

#include "tests/simulation/simulation.h"

namespace tutti::simulation {

// What a world in trouble makes the product log, errors too, is no news here.
void SilenceLogs();

// A run in a child process. There, a CHECK that fails is a violation of that name, and a signal one of "the scheduler
// does not crash"; the trace goes on until then.
class ForkedRun {
 public:
  explicit ForkedRun(const Run& run);  // begins
  Outcome Wait();                      // once

 private:
  int child_ = 0, result_ = 0, errors_ = 0;
};
Outcome SimulateForked(const Run& run);

struct Shrunk {
  Run run;
  Outcome outcome;
  int tries = 0;
};
// Leaves out faults and actions and cuts steps for as long as the same invariant is violated.
Shrunk Shrink(const Run& run, const Outcome& outcome, int most_tries);

// How to see a run again, as a command line.
std::string ReplayLine(const std::string& program, const Run& run);

}  // namespace tutti::simulation
