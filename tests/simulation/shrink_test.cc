// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/simulation/faults.h"
#include "tests/simulation/runner.h"
#include "tests/support/catch.h"

namespace tutti::simulation {
namespace {

constexpr base::Millis kTimeoutMs = 5'000;

Scenario Arrivals() {
  SilenceLogs();
  const auto scenario = ReadScenario(TUTTI_SOURCE_DIR "/tests/simulation/scenarios/arrivals.yaml");
  if (!scenario) FAIL(scenario.error().message);
  return *scenario;
}

// What becomes of binds of these sets of pods, in order.
std::vector<sim::Fate::Kind> Fates(Faults& faults, const std::vector<std::string>& sets) {
  std::vector<sim::Fate::Kind> fates;
  for (const std::string& set : sets) fates.push_back(faults.DecideBind(set + "-x", set, 0).kind);
  return fates;
}

TEST_CASE("What befalls a pod does not depend on others") {
  const Scenario scenario = Arrivals();
  Faults alone(scenario, 1, {}, kTimeoutMs), among(scenario, 1, {}, kTimeoutMs);
  const std::vector<std::string> mine(200, "g7");
  std::vector<sim::Fate::Kind> seen;
  for (int i = 0; i < 200; ++i) {
    Fates(among, {"g1", "g2"});
    seen.push_back(Fates(among, {"g7"}).front());
  }
  CHECK(seen == Fates(alone, mine));
  CHECK(std::ranges::count(seen, sim::Fate::Kind::kDeliver) > 20);
  CHECK(std::ranges::count(seen, sim::Fate::Kind::kDeliver) < 180);
}

TEST_CASE("What befalls a turn depends on the action before it") {
  Scenario scenario = Arrivals();
  scenario.faults["crash"] = 2;
  Faults few(scenario, 1, {}, kTimeoutMs), many(scenario, 1, {}, kTimeoutMs);
  const auto throws = [](Faults& faults, size_t actions, int turns) {
    faults.OnActions(actions);
    std::vector<bool> crashes;
    for (int i = 0; i < turns; ++i) crashes.push_back(faults.Strikes(Fault::kCrash));
    return crashes;
  };
  throws(few, 1, 3);
  throws(many, 1, 17);
  CHECK(throws(few, 2, 20) == throws(many, 2, 20));
  CHECK(throws(few, 3, 20) != throws(many, 4, 20));
}

// Every bind goes to one node, so that a trace of a few lines tells all.
class OneNode final : public Plant {
 public:
  void Commands(std::vector<cluster::Command>& commands) override {
    for (cluster::Command& command : commands)
      if (auto* bind = std::get_if<cluster::Bind>(&command.body)) bind->node = "n1";
  }
};

TEST_CASE("A failing run is shrunk to a trace that can be read, and replays") {
  constexpr size_t kMostLines = 60;
  OneNode plant;
  const Run run{Arrivals(), 1, {}, {}, false, &plant};
  const Outcome outcome = SimulateForked(run);
  REQUIRE(outcome.violation);
  Shrunk shrunk = Shrink(run, outcome, 200);
  CHECK(shrunk.outcome.violation->invariant == outcome.violation->invariant);
  shrunk.run.trace = true;
  const Outcome again = SimulateForked(shrunk.run);
  REQUIRE(again.violation);
  CHECK(again.violation->message == shrunk.outcome.violation->message);
  CHECK(again.trace.size() < kMostLines);
  CHECK(ReplayLine("soak", shrunk.run).find("--without-actions") != std::string::npos);
}

}  // namespace
}  // namespace tutti::simulation
