// SPDX-License-Identifier: Apache-2.0
// soak: seeds until so many steps are done, over all scenarios in turn; or one seed again, with a trace.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <deque>
#include <thread>

#include "base/log.h"
#include "base/random.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/runner.h"

using namespace tutti;
using namespace tutti::simulation;

namespace {

constexpr int64_t kALongRun = 1'600'000;  // steps: it stands for what the simulation promises

struct Flags {
  int64_t steps = 0, total = kALongRun, shrink = 400, jobs = std::max(1u, std::thread::hardware_concurrency());
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
  fmt::print("{} steps and {} at rest, log {:016x}: {}\n", outcome.steps, outcome.calm_steps, outcome.log_hash,
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

// What all seeds came to.
class Totals {
 public:
  void Add(const Run& run, const Outcome& outcome);
  void Print() const;
  // Of what a long run stands for, what is not so; one line each.
  std::vector<std::string> Lacking() const;
  int64_t steps() const { return steps_; }
  int64_t all_steps() const { return steps_ + calm_steps_; }

 private:
  struct Stretches {  // in which faults strike
    int64_t count = 0;
    base::Millis ms = 0;
    double seconds() const {
      return static_cast<double>(ms) / 1000.0 / static_cast<double>(std::max<int64_t>(count, 1));
    }
  };
  double PerTurn(int64_t sum) const {
    return static_cast<double>(sum) / static_cast<double>(std::max<int64_t>(turns_, 1));
  }
  static double Judged(const Asked& asked) {
    return static_cast<double>(asked.judged) / static_cast<double>(std::max<uint64_t>(asked.judged + asked.excused, 1));
  }

  uint64_t log_ = 0;  // of all worlds, in their order
  int64_t steps_ = 0, calm_steps_ = 0, calms_ = 0, turns_ = 0, all_kinds_ = 0, nodes_ = 0, gangs_ = 0, commands_ = 0;
  std::map<std::string, uint64_t> faults_, on_the_wire_;
  std::map<std::string, Stretches> stretches_;  // by scenario
  std::map<std::string, Asked> asked_;          // by invariant
  std::map<std::string, Outcome::Reliefs> reliefs_;
};

void Totals::Add(const Run& run, const Outcome& outcome) {
  log_ = base::Random(log_ ^ outcome.log_hash).Next();
  steps_ += std::max<int64_t>(outcome.steps, 1);
  calm_steps_ += outcome.calm_steps;
  calms_ += outcome.calms;
  turns_ += outcome.turns;
  all_kinds_ += outcome.turns_of_all_kinds;
  nodes_ += outcome.node_sum;
  gangs_ += outcome.gang_sum;
  commands_ += outcome.commands;
  for (const auto& [name, count] : outcome.faults) {
    faults_[name] += count;
    if (run.scenario.wire) on_the_wire_[name] += count;
  }
  for (const auto& [invariant, asked] : outcome.asked) {
    asked_[invariant].judged += asked.judged;
    asked_[invariant].excused += asked.excused;
  }
  for (const auto& [kind, each] : outcome.reliefs) {
    reliefs_[kind].times += each.times;
    reliefs_[kind].of_use += each.of_use;
  }
  stretches_[run.scenario.name].count += outcome.calms;
  stretches_[run.scenario.name].ms += outcome.hostile_ms;
}

void Totals::Print() const {
  fmt::print(
      "{} steps while faults strike, {} with those of {} times of rest, compared with a fresh scheduler; "
      "{} commands\n",
      steps_, all_steps(), calms_, commands_);
  fmt::print("worlds of {:.1f} nodes and {:.1f} gangs on average; no kind was removed in {} of {} turns\n",
             PerTurn(nodes_), PerTurn(gangs_), all_kinds_, turns_);
  fmt::print("seconds between two times of rest:");
  for (const auto& [scenario, stretches] : stretches_) fmt::print(" {} {:.0f}", scenario, stretches.seconds());
  fmt::print("\n  {:<40} {:>8} {:>9}\n", "fault", "times", "on wires");
  for (const std::string& name : FaultNames()) {
    const auto of = [&name](const auto& counts) { return counts.contains(name) ? counts.at(name) : 0; };
    fmt::print("  {:<40} {:>8} {:>9}\n", name, of(faults_), of(on_the_wire_));
  }
  fmt::print("  {:<40} {:>8} {:>9}\n", "invariant", "judged", "excused");
  for (const auto& [invariant, asked] : asked_)
    fmt::print("  {:<40} {:>8} {:>9}\n", invariant, asked.judged, asked.excused);
  fmt::print("  {:<40} {:>8} {:>9}\n", "relief in a world at rest", "times", "of use");
  for (const auto& [kind, reliefs] : reliefs_)
    fmt::print("  {:<40} {:>8} {:>9}\n", kind, reliefs.times, reliefs.of_use);
  fmt::print("log of all worlds: {:016x}\n", log_);
}

std::vector<std::string> Totals::Lacking() const {
  // A Lease is deleted once all replicas know of it, and then not for a term.
  const auto times = [](const std::string& fault) -> uint64_t { return fault == "lease-deleted" ? 500 : 1'000; };
  constexpr uint64_t kLeastOfEach = 200;  // of preemption and of quota
  constexpr double kNodes = 20, kGangs = 50, kStretchSeconds = 75, kLeastJudged = 0.25;
  std::vector<std::string> lacking;
  for (const std::string& name : FaultNames())
    if (!faults_.contains(name) || faults_.at(name) < times(name))
      lacking.push_back(fmt::format("{} struck less than {} times", name, times(name)));
  if (PerTurn(nodes_) < kNodes || PerTurn(gangs_) < kGangs)
    lacking.push_back(fmt::format("worlds have less than {} nodes or {} gangs", kNodes, kGangs));
  for (const auto& [scenario, stretches] : stretches_)
    if (stretches.seconds() < kStretchSeconds)
      lacking.push_back(fmt::format("{} comes to rest after less than {} s", scenario, kStretchSeconds));
  std::vector<std::string_view> invariants(std::begin(kOfPreemption), std::end(kOfPreemption));
  invariants.insert(invariants.end(), std::begin(kOfQuota), std::end(kOfQuota));
  for (const std::string_view invariant : invariants)
    if (const auto asked = asked_.find(std::string(invariant));
        asked == asked_.end() || asked->second.judged < kLeastOfEach)
      lacking.push_back(fmt::format("\"{}\" is judged less than {} times", invariant, kLeastOfEach));
  for (const auto& [invariant, asked] : asked_)
    if (Judged(asked) < kLeastJudged)
      lacking.push_back(fmt::format("\"{}\" is judged less than {} times in a hundred", invariant, 100 * kLeastJudged));
  return lacking;
}

int Soak(const Flags& flags, const std::vector<Scenario>& scenarios) {
  const auto started = std::chrono::steady_clock::now();
  Totals totals;
  uint64_t seed = flags.seed, next_seed = flags.seed;
  int violations = 0;
  std::deque<std::pair<Run, ForkedRun>> under_way;  // in the order of their seeds
  for (; totals.steps() < flags.total && violations < flags.most_failures; ++seed) {
    for (; under_way.size() < static_cast<size_t>(flags.jobs); ++next_seed) {
      Run run{scenarios[next_seed % scenarios.size()], next_seed, {}, {}, false, nullptr};
      if (flags.steps > 0) run.scenario.steps = flags.steps;
      ForkedRun forked(run);
      under_way.emplace_back(std::move(run), forked);
    }
    const Run run = std::move(under_way.front().first);
    const Outcome outcome = under_way.front().second.Wait();
    under_way.pop_front();
    totals.Add(run, outcome);
    if (!outcome.violation) continue;
    ++violations;
    Report(flags, run, outcome);
  }
  for (auto& [run, forked] : under_way) forked.Wait();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  fmt::print("seeds {} to {} over {} scenarios: ", flags.seed, seed - 1, scenarios.size());
  totals.Print();
  const bool stands_for_all = violations == 0 && flags.scenario.empty() && totals.steps() >= kALongRun;
  const auto lacking = stands_for_all ? totals.Lacking() : std::vector<std::string>();
  for (const std::string& what : lacking) fmt::print("LACKING: {}\n", what);
  const double core = CpuSeconds();
  fmt::print(
      "violations {}; per second of a core {:.0f} steps, {:.0f} of them while faults strike; {:.0f} by the clock\n",
      violations, static_cast<double>(totals.all_steps()) / core, static_cast<double>(totals.steps()) / core,
      static_cast<double>(totals.all_steps()) / took.count());
  return violations > 0 || !lacking.empty() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("the scheduler against a world that misbehaves on purpose");
  app.add_option("--total", flags.total, "steps altogether, while faults strike");
  app.add_option("--steps", flags.steps, "of one seed; 0: as the scenario says");
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
