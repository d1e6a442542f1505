// SPDX-License-Identifier: Apache-2.0
// negative: the tests of the tests. Each planted bug must be found by the simulation within so many seeds.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/log.h"
#include "tests/negative/plants.h"
#include "tests/simulation/runner.h"

using namespace tutti;
using namespace tutti::simulation;

int main(int argc, char** argv) {
  uint64_t first_seed = 1, most_seeds = 200;
  int64_t steps = 0;
  std::string only;
  bool trace = false;
  CLI::App app("planted bugs, and who finds them");
  app.add_option("--seed", first_seed, "the first");
  app.add_option("--seeds", most_seeds, "in which each bug must be found");
  app.add_option("--steps", steps, "of one seed; 0: as the scenario says");
  app.add_option("--bug", only, "only this one, by a part of its name");
  app.add_flag("--trace", trace, "print what happens in the seeds");
  CLI11_PARSE(app, argc, argv);
  SilenceLogs();
  const auto scenarios = ReadScenarios(TUTTI_SOURCE_DIR "/tests/simulation/scenarios");
  if (!scenarios) {
    fmt::print(stderr, "{}\n", scenarios.error().message);
    return 2;
  }
  int missed = 0, tried = 0;
  for (const negative::PlantedBug& bug : negative::AllBugs()) {
    if (bug.name.find(only) == std::string::npos) continue;
    ++tried;
    bool found = false;
    for (uint64_t seed = first_seed; seed < first_seed + most_seeds && !found; ++seed) {
      const auto plant = bug.around ? bug.around() : nullptr;
      base::planted = bug.in_core;
      Run run{(*scenarios)[seed % scenarios->size()], seed, {}, {}, trace, plant.get()};
      if (steps > 0) run.scenario.steps = steps;
      const Outcome outcome = SimulateApart(run);
      for (const std::string& line : outcome.trace) fmt::print("{}\n", line);
      if (!outcome.violation) continue;
      // What the honest scheduler violates in the same run would prove nothing.
      base::planted = base::Bug::kNone;
      run.plant = nullptr;
      if (SimulateApart(run).violation) continue;
      found = true;
      fmt::print("{:<55} seed {:>3} ({}): {}\n", bug.name, seed, run.scenario.name, outcome.violation->invariant);
    }
    if (!found) ++missed, fmt::print("{:<55} NOT FOUND in {} seeds\n", bug.name, most_seeds);
    std::fflush(stdout);
  }
  fmt::print("{} planted, {} found, {} missed\n", tried, tried - missed, missed);
  return missed > 0 || tried == 0 ? 1 : 0;
}
