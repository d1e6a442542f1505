// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "base/check.h"
#include "base/json.h"
#include "base/json_string.h"
#include "base/log.h"

// jemalloc's settings. A world in memory is a page fault for every 4 KiB, a tenth of its run; and it has one thread.
extern "C" const char* const malloc_conf = "thp:always,narenas:1";

namespace tutti::simulation {

using Json = base::Json;

namespace {

Json ToJson(const Outcome& outcome) {
  Json asked = Json::object();
  for (const auto& [invariant, each] : outcome.asked) asked[invariant] = {each.judged, each.excused};
  Json reliefs = Json::object();
  for (const auto& [kind, each] : outcome.reliefs) reliefs[kind] = {each.times, each.of_use};
  Json json = {{"steps", outcome.steps},
               {"calm_steps", outcome.calm_steps},
               {"hostile_ms", outcome.hostile_ms},
               {"actions", outcome.actions},
               {"calms", outcome.calms},
               {"commands", outcome.commands},
               {"nodes", outcome.node_sum},
               {"gangs", outcome.gang_sum},
               {"turns", outcome.turns},
               {"all_kinds", outcome.turns_of_all_kinds},
               {"faults", outcome.faults},
               {"asked", asked},
               {"reliefs", reliefs},
               {"hash", outcome.log_hash},
               {"violated", outcome.violation.has_value()}};
  if (outcome.violation) json["invariant"] = outcome.violation->invariant, json["message"] = outcome.violation->message;
  return json;
}

Outcome FromJson(const Json& json) {
  Outcome outcome;
  outcome.steps = json["steps"];
  outcome.calm_steps = json["calm_steps"];
  outcome.hostile_ms = json["hostile_ms"];
  outcome.actions = json["actions"];
  outcome.calms = json["calms"];
  outcome.commands = json["commands"];
  outcome.node_sum = json["nodes"];
  outcome.gang_sum = json["gangs"];
  outcome.turns = json["turns"];
  outcome.turns_of_all_kinds = json["all_kinds"];
  outcome.faults = json["faults"].get<std::map<std::string, uint64_t>>();
  for (const auto& [invariant, each] : json["asked"].items()) outcome.asked[invariant] = {each[0], each[1]};
  for (const auto& [kind, each] : json["reliefs"].items()) outcome.reliefs[kind] = {each[0], each[1]};
  outcome.log_hash = json["hash"];
  if (json["violated"]) outcome.violation = Violation{json["invariant"], json["message"]};
  return outcome;
}

constexpr rlimit kMostSeconds = {120, 120};  // of a core, for one seed; more, and it hangs

std::string ReadAll(int from) {
  std::string text;
  char buffer[1 << 16];
  for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(from);
  return text;
}

void WriteAll(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(to, text.data(), text.size());
    if (n <= 0) _exit(2);
    text.remove_prefix(static_cast<size_t>(n));
  }
}

constexpr char kEndOfLine = '\0';  // of the trace, before the outcome

// "/path/file.cc:12: CHECK(x) failed: why" of what a child said before it died.
Violation Crash(const std::string& said, int signal) {
  const size_t check = said.rfind("CHECK(");
  if (check == std::string::npos) return {"the scheduler does not crash", fmt::format("signal {}", signal)};
  const std::string line = said.substr(said.rfind('/', check) + 1);
  const size_t name = line.find("CHECK(");
  return {line.substr(name, line.find(") failed", name) + 1 - name), line.substr(0, line.find('\n'))};
}

// What every world reads is read before the first is forked off, not in each.
void ReadWhatIsShared(const Run& run) {
  static const bool once = [&] {
    Run empty = run;
    empty.scenario.steps = 0;
    empty.plant = nullptr;
    Simulate(empty);
    return true;
  }();
  (void)once;
}

}  // namespace

void SilenceLogs() { base::SetLogLevel(base::LogLevel::kNone); }

ForkedRun::ForkedRun(const Run& run) {
  ReadWhatIsShared(run);
  int result[2];
  errors_ = memfd_create("errors", MFD_CLOEXEC);  // no pipe, for it would not be read while the child runs
  TUTTI_CHECK(pipe(result) == 0 && errors_ >= 0, "pipes");
  std::fflush(nullptr);
  child_ = fork();
  TUTTI_CHECK(child_ >= 0, "fork");
  if (child_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CPU, &kMostSeconds);
    for (const int each : {SIGABRT, SIGSEGV, SIGFPE, SIGILL}) std::signal(each, SIG_DFL);  // a test's own handlers
    dup2(errors_, STDERR_FILENO);
    close(result[0]);
    Run told = run;
    told.tell = [to = result[1]](const std::string& line) { WriteAll(to, line + kEndOfLine); };
    WriteAll(result[1], base::PrintJson(ToJson(SimulateLast(told))));
    _exit(0);
  }
  close(result[1]);
  result_ = result[0];
}

Outcome ForkedRun::Wait() {
  const std::string text = ReadAll(result_);
  int status = 0;
  waitpid(child_, &status, 0);
  lseek(errors_, 0, SEEK_SET);
  const std::string said = ReadAll(errors_);
  std::vector<std::string> trace;
  size_t from = 0;
  for (size_t to; (to = text.find(kEndOfLine, from)) != std::string::npos; from = to + 1)
    trace.push_back(text.substr(from, to - from));
  const bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  Outcome outcome = ended ? FromJson(Json::parse(text.substr(from))) : Outcome{};
  if (!ended) outcome.violation = Crash(said, WTERMSIG(status));
  outcome.trace = std::move(trace);
  return outcome;
}

Outcome SimulateForked(const Run& run) { return ForkedRun(run).Wait(); }

Shrunk Shrink(const Run& run, const Outcome& outcome, int most_tries) {
  Shrunk best{run, outcome, 0};
  const auto fails = [&](const Run& candidate) {
    if (best.tries >= most_tries) return false;
    ++best.tries;
    Outcome result = SimulateForked(candidate);
    if (!result.violation || result.violation->invariant != outcome.violation->invariant) return false;
    best.run = candidate;
    best.outcome = std::move(result);
    return true;
  };
  const auto cut_steps = [&] {
    if (best.outcome.steps <= 0) return;
    Run candidate = best.run;
    candidate.scenario.steps = std::min(candidate.scenario.steps, best.outcome.steps + 1);
    fails(candidate);
  };
  cut_steps();
  for (const auto& [name, rate] : run.scenario.faults) {
    Run candidate = best.run;
    candidate.without_faults.insert(name);
    fails(candidate);
  }
  // Actions: halves, quarters, ..., single ones.
  const size_t actions = static_cast<size_t>(4 * run.scenario.steps / std::max<int64_t>(run.scenario.every, 1)) + 4;
  for (size_t part = actions / 2; part > 0; part /= 2)
    for (size_t from = 0; from < actions; from += part) {
      Run candidate = best.run;
      size_t fresh = 0;
      for (size_t i = from; i < from + part; ++i) fresh += candidate.without_actions.insert(i).second;
      if (fresh > 0) fails(candidate);
    }
  cut_steps();
  for (int64_t steps = best.run.scenario.steps / 2; steps > 0; steps /= 2) {
    Run candidate = best.run;
    candidate.scenario.steps -= steps;
    fails(candidate);
  }
  return best;
}

std::string ReplayLine(const std::string& program, const Run& run) {
  std::string line = fmt::format("{} --scenario {} --seed {} --steps {} --trace", program, run.scenario.name, run.seed,
                                 run.scenario.steps);
  if (!run.without_faults.empty()) line += fmt::format(" --without-faults {}", fmt::join(run.without_faults, ","));
  if (run.without_actions.empty()) return line;
  std::vector<std::string> ranges;  // "3-17"
  for (auto at = run.without_actions.begin(); at != run.without_actions.end();) {
    const size_t first = *at;
    size_t last = first;
    while (++at != run.without_actions.end() && *at == last + 1) last = *at;
    ranges.push_back(first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
  }
  return line + fmt::format(" --without-actions {}", fmt::join(ranges, ","));
}

}  // namespace tutti::simulation
