// SPDX-License-Identifier: Apache-2.0
// exact: the engine's answers beside those of an exact solver. Random small gangs: may it say "cannot fit"? Random
// streams of gangs: how far from the best are the number placed and the whole nodes left? Random gangs for which others
// have to go: are its victims the fewest?
//
//   exact [--gangs N] [--streams N] [--victims N] [--seed S] [--limit SECONDS]
//
// A question that the solver does not answer within the limit is skipped, and counted. Exit code 0: no false refusal,
// at most 0.1 % given up, and on average within 2 % of the optimum; the fewest victims in 95 of 100, and never more
// than one more; and of each kind of question that is judged so, the solver answered nine in ten.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "tests/exact/engine.h"
#include "tests/exact/solver.h"
#include "tests/exact/victims.h"

namespace tutti::exact {
namespace {

using framework::Verdict;

struct Options {
  int gangs = 5000, streams = 200, victims = 1000, limit_s = 10;
  uint64_t seed = 1;
};

[[noreturn]] void Fail(const std::string& what) {
  fmt::print(stderr, "exact: {}\n", what);
  std::exit(2);
}

// nullopt: the solver takes too long.
std::optional<Layout> Best(const Question& question, Goal goal, uint64_t seed, int limit_s) {
  auto best = Solve(question, goal, limit_s);
  if (!best) Fail(best.error().message);
  if (!*best) return std::nullopt;
  if (const std::string wrong = Check(question, **best); !wrong.empty())
    Fail(fmt::format("seed {}: the solver's layout is wrong: {}", seed, wrong));
  return *std::move(best);
}

bool CheckGangs(const Options& options) {
  int fits = 0, refused = 0, false_refusals = 0, gave_up = 0, gave_up_wrongly = 0, broken = 0, skipped = 0;
  double slowest_ms = 0;
  for (int i = 0; i < options.gangs; ++i) {
    const uint64_t seed = options.seed * 1'000'003 + static_cast<uint64_t>(i);
    base::Random random(seed);
    const Question question = RandomGang(random);
    const auto started = std::chrono::steady_clock::now();
    const EngineAnswer answer = Ask(question, false);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - started;
    slowest_ms = std::max(slowest_ms, took.count());
    if (answer.verdicts[0] == Verdict::kFits) {
      ++fits;
      const std::string wrong = Check(question, answer.layout);
      if (!wrong.empty()) ++broken, fmt::print("seed {}: the engine's placement is wrong: {}\n", seed, wrong);
      continue;
    }
    const std::optional<Layout> best = Best(question, Goal::kMost, seed, options.limit_s);
    skipped += !best;
    const bool possible = best && Placed(*best) == 1;
    if (answer.verdicts[0] == Verdict::kGaveUp) {
      ++gave_up;
      gave_up_wrongly += possible;
      fmt::print("seed {}: gave up; it {}\n", seed, !best ? "may fit" : possible ? "fits" : "does not fit");
    } else {
      ++refused;
      if (possible)
        ++false_refusals, fmt::print("seed {}: refused, but it fits\n{}", seed, Program(question, Goal::kMost));
    }
  }
  fmt::print(
      "gangs tried        {}\n  placed           {}\n  refused          {}\n  false refusals   {}\n  wrong placements "
      "{}\n"
      "  gave up          {} ({:.2f} %), {} of which fit\n  slowest          {:.1f} ms\n"
      "  skipped          {} of {} that were not placed: the solver takes more than {} s\n",
      options.gangs, fits, refused, false_refusals, broken, gave_up, 100.0 * gave_up / std::max(1, options.gangs),
      gave_up_wrongly, slowest_ms, skipped, refused + gave_up, options.limit_s);
  return false_refusals == 0 && broken == 0 && gave_up * 1000 <= options.gangs && skipped * 10 <= refused + gave_up;
}

// How far the engine, which does not know what comes next, stays below what was possible.
struct Distance {
  int solved = 0;  // streams of which the best is known
  int same = 0;    // of them, those in which as many gangs were placed; whole nodes are compared there
  double gangs_percent = 0, whole_percent = 0;
  int64_t placed = 0, most = 0;  // gangs of all that were solved
};

Distance Measure(const Options& options, Goal goal) {
  Distance distance;
  for (int i = 0; i < options.streams; ++i) {
    const uint64_t seed = options.seed * 7'000'003 + static_cast<uint64_t>(i);
    base::Random random(seed);
    const Question question = RandomStream(random);
    const EngineAnswer answer = Ask(question, true);
    if (const std::string wrong = Check(question, answer.layout); !wrong.empty())
      Fail(fmt::format("stream {}: {}", seed, wrong));
    const std::optional<Layout> best = Best(question, goal, seed, options.limit_s);
    if (!best) continue;
    ++distance.solved;
    const int placed = Placed(answer.layout), most = Placed(*best);
    distance.placed += placed;
    distance.most += most;
    if (most > 0) distance.gangs_percent += 100.0 * (most - placed) / most;
    if (placed != most) continue;
    ++distance.same;
    const int whole = WholeNodes(question, answer.layout), most_whole = WholeNodes(question, *best);
    if (most_whole > 0) distance.whole_percent += 100.0 * (most_whole - whole) / most_whole;
  }
  distance.gangs_percent /= std::max(1, distance.solved);
  distance.whole_percent /= std::max(1, distance.same);
  return distance;
}

bool CheckStreams(const Options& options) {
  if (options.streams == 0) return true;
  const auto print = [&](const char* goal, const Distance& distance) {
    fmt::print(
        "streams tried      {}, beside {}\n  gangs placed     {} of {}, {:.2f} % fewer on average; as many in {}\n"
        "  whole nodes      {:.2f} % fewer there\n  skipped          {}: the solver takes more than {} s\n",
        options.streams, goal, distance.placed, distance.most, distance.gangs_percent, distance.same,
        distance.whole_percent, options.streams - distance.solved, options.limit_s);
  };
  const Distance in_order = Measure(options, Goal::kInOrder);
  print("the best that serves them in their order", in_order);
  print("the best that may pass any over", Measure(options, Goal::kMost));
  const bool enough = (options.streams - in_order.solved) * 10 <= options.streams;
  return enough && in_order.gangs_percent <= 2 && in_order.whole_percent <= 2;
}

int Main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--gangs") == 0)
      options.gangs = std::atoi(argv[i + 1]);
    else if (std::strcmp(argv[i], "--streams") == 0)
      options.streams = std::atoi(argv[i + 1]);
    else if (std::strcmp(argv[i], "--victims") == 0)
      options.victims = std::atoi(argv[i + 1]);
    else if (std::strcmp(argv[i], "--limit") == 0)
      options.limit_s = std::atoi(argv[i + 1]);
    else if (std::strcmp(argv[i], "--seed") == 0)
      options.seed = static_cast<uint64_t>(std::atoll(argv[i + 1]));
    else
      Fail(fmt::format("unknown argument {}; there are --gangs, --streams, --victims, --seed and --limit", argv[i]));
  }
  const bool gangs = CheckGangs(options), streams = CheckStreams(options);
  const bool victims = CheckVictims(options.victims, options.seed, options.limit_s);
  return gangs && streams && victims ? 0 : 1;
}

}  // namespace
}  // namespace tutti::exact

int main(int argc, char** argv) { return tutti::exact::Main(argc, argv); }
