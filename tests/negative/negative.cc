// SPDX-License-Identifier: Apache-2.0
// negative: the tests of the tests. Each planted bug must be found by the simulation within so many seeds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "tests/negative/plants.h"
#include "tests/simulation/runner.h"

using namespace tutti;
using namespace tutti::simulation;

namespace {

struct Flags {
  uint64_t seed = 1, seeds = 200;
  int64_t steps = 0;
  std::string program, bug, scenario;
  bool trace = false;
};

class Hunt {
 public:
  Hunt(const Flags& flags, const std::vector<Scenario>& scenarios) : flags_(flags), scenarios_(scenarios) {}

  // Prints which invariant saw it, and where. False: none of those that must see it did.
  bool For(const negative::PlantedBug& bug) {
    std::set<std::string> others;
    for (uint64_t seed = flags_.seed; seed < flags_.seed + flags_.seeds; ++seed) {
      const auto plant = bug.around ? bug.around() : nullptr;
      Run run{WorldOf(bug, seed), seed, {}, {}, flags_.trace, plant.get()};
      if (flags_.steps > 0) run.scenario.steps = flags_.steps;
      base::planted = bug.in_core;
      base::forgotten = bug.forgets;
      const Outcome outcome = SimulateForked(run);
      base::planted = base::Bug::kNone;
      for (const std::string& line : outcome.trace) fmt::print("{}\n", line);
      if (!outcome.violation || FailsHonestly(run)) continue;
      if (!bug.expects.contains(outcome.violation->invariant)) {
        others.insert(outcome.violation->invariant);
        continue;
      }
      fmt::print("{:<50} seed {:>3}: {}\n", bug.name, seed, outcome.violation->invariant);
      fmt::print("    {}\n", outcome.violation->message);
      fmt::print("    {} --bug \"{}\" --scenario {} --seed {} --seeds 1 --trace\n", flags_.program, bug.name,
                 run.scenario.name, seed);
      return true;
    }
    fmt::print("{:<50} NOT FOUND in {} seeds by: {}\n", bug.name, flags_.seeds, fmt::join(bug.expects, ", "));
    if (!others.empty()) fmt::print("    but by: {}\n", fmt::join(others, ", "));
    return false;
  }

 private:
  const Scenario& WorldOf(const negative::PlantedBug& bug, uint64_t seed) const {
    if (bug.world.empty() || !flags_.scenario.empty()) return scenarios_[seed % scenarios_.size()];
    const auto at = std::ranges::find(scenarios_, bug.world, &Scenario::name);
    TUTTI_CHECK(at != scenarios_.end(), bug.world);
    return *at;
  }

  // What the scheduler violates in the same run without the bug would prove nothing.
  bool FailsHonestly(Run run) {
    const auto [at, fresh] = honest_.try_emplace({run.scenario.name, run.seed}, false);
    run.plant = nullptr;
    run.trace = false;
    if (fresh) at->second = SimulateForked(run).violation.has_value();
    return at->second;
  }

  const Flags& flags_;
  const std::vector<Scenario>& scenarios_;
  std::map<std::pair<std::string, uint64_t>, bool> honest_;  // which runs fail, by scenario and seed
};

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("planted bugs, and the invariants that find them");
  app.add_option("--seed", flags.seed, "the first");
  app.add_option("--seeds", flags.seeds, "in which each bug must be found");
  app.add_option("--steps", flags.steps, "of one seed; 0: as the scenario says");
  app.add_option("--bug", flags.bug, "only this one, by a part of its name");
  app.add_option("--scenario", flags.scenario, "only this one; else the bug's own, or all in turn");
  app.add_flag("--trace", flags.trace, "print what happens in the seeds");
  CLI11_PARSE(app, argc, argv);
  flags.program = argv[0];
  SilenceLogs();
  const auto scenarios = ReadScenarios(TUTTI_SOURCE_DIR "/tests/simulation/scenarios", flags.scenario);
  if (!scenarios) {
    fmt::print(stderr, "{}\n", scenarios.error().message);
    return 2;
  }
  Hunt hunt(flags, *scenarios);
  int missed = 0, tried = 0;
  for (const negative::PlantedBug& bug : negative::AllBugs()) {
    if (bug.name.find(flags.bug) == std::string::npos) continue;
    ++tried;
    missed += !hunt.For(bug);
    std::fflush(stdout);
  }
  fmt::print("{} planted, {} found, {} missed\n", tried, tried - missed, missed);
  return missed > 0 || tried == 0 ? 1 : 0;
}
