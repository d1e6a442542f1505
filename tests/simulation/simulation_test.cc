// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/simulation.h"

#include "base/log.h"
#include "tests/simulation/runner.h"
#include "tests/support/catch.h"

namespace tutti::simulation {
namespace {

std::vector<Scenario> Scenarios() {
  SilenceLogs();
  const auto scenarios = ReadScenarios(TUTTI_SOURCE_DIR "/tests/simulation/scenarios");
  if (!scenarios) FAIL(scenarios.error().message);
  return *scenarios;
}

TEST_CASE("The same seed gives the same decisions, byte for byte") {
  for (const Scenario& scenario : Scenarios()) {
    Run run{scenario, 7, {}, {}, true, nullptr};
    run.scenario.steps = 600;
    const Outcome first = Simulate(run), second = Simulate(run);
    INFO(scenario.name);
    CHECK(first.log_hash == second.log_hash);
    CHECK(first.trace == second.trace);
    CHECK_FALSE(first.trace.empty());
    run.seed = 8;
    CHECK(Simulate(run).log_hash != first.log_hash);
  }
}

TEST_CASE("Some seeds of every scenario violate nothing") {
  for (const Scenario& scenario : Scenarios())
    for (uint64_t seed = 1; seed <= 2; ++seed) {
      Run run{scenario, seed, {}, {}, false, nullptr};
      run.scenario.steps = 1500;
      const Outcome outcome = SimulateApart(run);
      INFO(ReplayLine("soak", run));
      if (outcome.violation) FAIL_CHECK(outcome.violation->invariant << ": " << outcome.violation->message);
      CHECK(outcome.steps >= run.scenario.steps);
    }
}

TEST_CASE("A scenario that names what is not known is refused") {
  CHECK_FALSE(ReadScenario(TUTTI_SOURCE_DIR "/tests/simulation/CMakeLists.txt"));
  CHECK_FALSE(ReadScenario("/nowhere.yaml"));
}

}  // namespace
}  // namespace tutti::simulation
