// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/simulation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/check.h"
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
      run.scenario.steps = 600;
      const Outcome outcome = SimulateForked(run);
      INFO(ReplayLine("soak", run));
      if (outcome.violation) FAIL_CHECK(outcome.violation->invariant << ": " << outcome.violation->message);
      CHECK(outcome.steps >= run.scenario.steps);
    }
}

// It dies of a CHECK in the middle of a run.
class Crashing final : public Plant {
 public:
  void Commands(std::vector<cluster::Command>& commands) override {
    seen_ += commands.size();
    TUTTI_CHECK(seen_ < 50, "planted");
  }

 private:
  size_t seen_ = 0;
};

TEST_CASE("A CHECK that fails is a finding like any other, with its trace") {
  Crashing plant;
  const Run run{Scenarios().front(), 3, {}, {}, true, &plant};
  const Outcome outcome = SimulateForked(run);
  REQUIRE(outcome.violation);
  CHECK(outcome.violation->invariant == "CHECK(seen_ < 50)");
  CHECK(outcome.violation->message.starts_with("simulation_test.cc:"));
  CHECK(outcome.violation->message.ends_with("planted"));
  CHECK(outcome.trace.size() > 25);  // the arrivals, and the commands of the batches before
}

TEST_CASE("A trace that is told is the one that is collected") {
  Run run{Scenarios().front(), 5, {}, {}, true, nullptr};
  run.scenario.steps = 300;
  const Outcome forked = SimulateForked(run), here = Simulate(run);
  CHECK(forked.trace == here.trace);
  CHECK(forked.log_hash == here.log_hash);
}

TEST_CASE("A scenario that names what is not known is refused") {
  CHECK_FALSE(ReadScenario(TUTTI_SOURCE_DIR "/tests/simulation/CMakeLists.txt"));
  CHECK_FALSE(ReadScenario("/nowhere.yaml"));
}

TEST_CASE("A scenario whose queues share by no known rule is refused") {
  const std::string path = std::filesystem::temp_directory_path() / fmt::format("shares-{}.yaml", getpid());
  const auto read = [&path](const std::string& rule) {
    std::ofstream(path) << rule << "workload: {arrive-lone: 1}\n";
    return ReadScenario(path);
  };
  using Kind = core::QueueRule::Kind;
  CHECK(read("")->queue_rule.kind == Kind::kCapability);
  CHECK(read("share-by: proportion\n")->queue_rule.kind == Kind::kProportion);
  for (const char* wrong : {"share-by: proportoin\n", "share-by: 1\n"}) {
    const auto refused = read(wrong);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("share-by") != std::string::npos);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tutti::simulation
