// SPDX-License-Identifier: Apache-2.0
// Plays scenarios: `scenarios [--show] PATH...`. Exit code 1 if one fails, or if there is none.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tests/scenarios/expectation.h"
#include "tests/scenarios/scenario.h"
#include "tests/scenarios/stage.h"

namespace tutti::scenarios {
namespace {

// What went wrong, a line each; empty: it passed.
std::vector<std::string> Play(const Scenario& scenario, bool show) {
  auto stage = Stage::Set(scenario);
  if (!stage) return {stage.error().message};
  int number = 0;
  for (const sim::Json& step : scenario.content["steps"]) {
    ++number;
    std::vector<std::string> complaints;
    if (const base::Status done = (*stage)->Do(step); !done)
      complaints.push_back(done.error().message);
    else if (step.contains("expect"))
      complaints = CheckExpectation(**stage, step["expect"]);
    if (show || !complaints.empty()) fmt::print("  after step {}:\n{}", number, Show(**stage));
    if (complaints.empty()) continue;
    for (std::string& complaint : complaints) complaint = fmt::format("step {}: {}", number, complaint);
    return complaints;
  }
  return {};
}

int Main(const std::vector<std::string>& paths, bool show) {
  int passed = 0, failed = 0;
  for (const std::string& path : paths) {
    const auto scenarios = LoadScenarios(path);
    if (!scenarios) {
      fmt::print("{}\n", scenarios.error().message);
      ++failed;
      continue;
    }
    for (const Scenario& scenario : *scenarios) {
      if (show) fmt::print("{}: {}\n", scenario.where, scenario.name);
      const std::vector<std::string> complaints = Play(scenario, show);
      ++(complaints.empty() ? passed : failed);
      if (!complaints.empty()) fmt::print("FAILED {}: {}\n", scenario.where, scenario.name);
      for (const std::string& complaint : complaints) fmt::print("  {}\n", complaint);
    }
  }
  fmt::print("{} scenarios passed, {} failed\n", passed, failed);
  return failed > 0 || passed == 0 ? 1 : 0;
}

}  // namespace
}  // namespace tutti::scenarios

int main(int argc, char** argv) {
  std::vector<std::string> paths;
  bool show = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--show") == 0)
      show = true;
    else
      paths.emplace_back(argv[i]);
  }
  return tutti::scenarios::Main(paths, show);
}
