// SPDX-License-Identifier: Apache-2.0
// Runner: runs many seeds, each in a process of its own, so that a crash is a finding like any other. Shrinks what
// fails.
#pragma once

#include <string>
#include <vector>

#include "tests/simulation/simulation.h"

namespace tutti::simulation {

// Silences the product's log. In a world full of faults it logs much, errors too, and none of it is news here.
void SilenceLogs();

// A run in a child process. A CHECK that fails there is a violation of that name, and a signal is a violation of "the
// scheduler does not crash". The trace goes on until then.
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
// Leaves out faults and actions, and cuts steps, for as long as the same invariant is violated.
Shrunk Shrink(const Run& run, const Outcome& outcome, int most_tries);

// Returns the command line that runs it again.
std::string ReplayLine(const std::string& program, const Run& run);

}  // namespace tutti::simulation
