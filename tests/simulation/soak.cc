// SPDX-License-Identifier: Apache-2.0
// soak: seeds until so many steps are done, over all scenarios in turn; or one seed again, with a trace.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <deque>
#include <thread>

#include "base/log.h"
#include "tests/simulation/runner.h"

using namespace tutti;
using namespace tutti::simulation;

namespace {

struct Flags {
  int64_t steps = 0, total = 1'000'000, shrink = 400, jobs = std::max(1u, std::thread::hardware_concurrency());
  uint64_t seed = 1;
  std::string program, scenario, without_faults, without_actions;
  bool trace = false;
  int most_failures = 1;
};

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t from = 0; from < text.size();) {
    const size_t to = std::min(text.find(',', from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

int Again(const Flags& flags, Scenario scenario) {
  Run run{std::move(scenario), flags.seed, {}, {}, true, nullptr};
  if (flags.steps > 0) run.scenario.steps = flags.steps;
  for (const std::string& name : Split(flags.without_faults)) run.without_faults.insert(name);
  for (const std::string& range : Split(flags.without_actions)) {
    const size_t dash = range.find('-');
    const size_t first = std::stoul(range),
                 last = dash == std::string::npos ? first : std::stoul(range.substr(dash + 1));
    for (size_t i = first; i <= last; ++i) run.without_actions.insert(i);
  }
  run.tell = [](const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);  // a CHECK ends it all
  };
  const Outcome outcome = Simulate(run);
  fmt::print("{} steps, log {:016x}: {}\n", outcome.steps, outcome.log_hash,
             outcome.violation ? outcome.violation->invariant + ": " + outcome.violation->message : "no violation");
  return outcome.violation ? 1 : 0;
}

// Of this process and of those that simulated for it.
double CpuSeconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& each : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(each.tv_sec) + static_cast<double>(each.tv_usec) / 1e6;
  }
  return seconds;
}

void Report(const Flags& flags, const Run& run, const Outcome& outcome) {
  fmt::print("\nVIOLATION in {} seed {}: {}: {}\n", run.scenario.name, run.seed, outcome.violation->invariant,
             outcome.violation->message);
  fmt::print("  replay: {}\n", ReplayLine(flags.program, run));
  const Shrunk shrunk = Shrink(run, outcome, static_cast<int>(flags.shrink));
  fmt::print("  shrunk to {} steps and {} actions in {} tries: {}\n", shrunk.outcome.steps, shrunk.outcome.actions,
             shrunk.tries, shrunk.outcome.violation->message);
  fmt::print("  replay: {}\n", ReplayLine(flags.program, shrunk.run));
  Run traced = shrunk.run;
  traced.trace = true;
  for (const std::string& line : SimulateForked(traced).trace) fmt::print("    {}\n", line);
  std::fflush(stdout);
}

int Soak(const Flags& flags, const std::vector<Scenario>& scenarios) {
  const auto started = std::chrono::steady_clock::now();
  std::map<std::string, uint64_t> faults;
  int64_t steps = 0, calms = 0, turns = 0, all_kinds = 0, nodes = 0, gangs = 0, commands = 0;
  uint64_t seed = flags.seed, next_seed = flags.seed;
  int violations = 0;
  std::deque<std::pair<Run, ForkedRun>> under_way;  // in the order of their seeds
  for (; steps < flags.total && violations < flags.most_failures; ++seed) {
    for (; under_way.size() < static_cast<size_t>(flags.jobs); ++next_seed) {
      Run run{scenarios[next_seed % scenarios.size()], next_seed, {}, {}, false, nullptr};
      if (flags.steps > 0) run.scenario.steps = flags.steps;
      ForkedRun forked(run);
      under_way.emplace_back(std::move(run), forked);
    }
    const Run run = std::move(under_way.front().first);
    const Outcome outcome = under_way.front().second.Wait();
    under_way.pop_front();
    steps += std::max<int64_t>(outcome.steps, 1);
    calms += outcome.calms;
    turns += outcome.turns;
    all_kinds += outcome.turns_of_all_kinds;
    nodes += outcome.node_sum;
    gangs += outcome.gang_sum;
    commands += outcome.commands;
    for (const auto& [name, count] : outcome.faults) faults[name] += count;
    if (!outcome.violation) continue;
    ++violations;
    Report(flags, run, outcome);
  }
  for (auto& [run, forked] : under_way) forked.Wait();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  fmt::print(
      "seeds {} to {} over {} scenarios, {} steps, {} commands, {} times at rest and compared with a fresh scheduler\n",
      flags.seed, seed - 1, scenarios.size(), steps, commands, calms);
  if (turns > 0)
    fmt::print("worlds of {:.1f} nodes and {:.1f} gangs on average; no kind was removed in {} of {} turns\n",
               static_cast<double>(nodes) / static_cast<double>(turns),
               static_cast<double>(gangs) / static_cast<double>(turns), all_kinds, turns);
  for (const auto& [name, count] : faults) fmt::print("  {:<18} {:>8}\n", name, count);
  fmt::print("violations {}; {:.0f} steps/s by the clock, {:.0f} per second of a core\n", violations,
             static_cast<double>(steps) / took.count(), static_cast<double>(steps) / CpuSeconds());
  return violations > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("the scheduler against a world that misbehaves on purpose");
  app.add_option("--total", flags.total, "steps altogether");
  app.add_option("--steps", flags.steps, "steps of one seed; 0: as the scenario says");
  app.add_option("--seed", flags.seed, "the first seed, or the one to replay");
  app.add_option("--scenario", flags.scenario, "only this one");
  app.add_option("--shrink", flags.shrink, "tries to make a failing run smaller");
  app.add_option("--jobs", flags.jobs, "seeds at a time");
  app.add_option("--failures", flags.most_failures, "violations after which to stop");
  app.add_flag("--trace", flags.trace, "replay one seed and print what happens");
  app.add_option("--without-faults", flags.without_faults, "left out of a replay: a,b");
  app.add_option("--without-actions", flags.without_actions, "left out of a replay: 1,5-9");
  CLI11_PARSE(app, argc, argv);
  flags.program = argv[0];
  SilenceLogs();

  const auto scenarios = ReadScenarios(TUTTI_SOURCE_DIR "/tests/simulation/scenarios", flags.scenario);
  if (!scenarios) {
    fmt::print(stderr, "{}\n", scenarios.error().message);
    return 2;
  }
  return flags.trace ? Again(flags, scenarios->front()) : Soak(flags, *scenarios);
}
