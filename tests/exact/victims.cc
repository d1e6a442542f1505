// SPDX-License-Identifier: Apache-2.0
#include "tests/exact/victims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "tests/exact/solver.h"
#include "tests/support/victim_rig.h"

namespace tutti::exact {
namespace {

using tests::json;

int Pick(base::Random& random, int from, int to) { return static_cast<int>(random.Between(from, to)); }

// z: the pod goes. g: all of the gang goes. x: members of a class on a node. p: the gang is placed. y: it is in the
// rack.
std::string Program(const VictimQuestion& q) {
  std::string objective = " + 10000 p", rows, bounds, generals, binaries = " p";
  int row = 0;
  const auto add = [&](const std::string& text) { rows += fmt::format(" r{}: {}\n", ++row, text); };
  for (size_t i = 0; i < q.pods.size(); ++i) {
    objective += fmt::format(" - z_{}", i);
    binaries += fmt::format(" z_{}", i);
  }
  for (size_t j = 0; j < q.minima.size(); ++j) {
    objective += fmt::format(" - 100 g_{}", j);
    binaries += fmt::format(" g_{}", j);
    std::string all;
    int size = 0;
    for (size_t i = 0; i < q.pods.size(); ++i) {
      if (q.pods[i].gang != static_cast<int>(j)) continue;
      ++size;
      all += fmt::format(" + z_{}", i);
      add(fmt::format("z_{} - g_{} >= 0", i, j));
      if (q.pods[i].head) add(fmt::format("z_{} - g_{} <= 0", i, j));
    }
    const int spare = std::max(0, size - q.minima[j]);
    if (size > 0) add(fmt::format("{} - {} g_{} <= {}", all, size - spare, j, spare));
  }
  std::set<int> racks;
  for (const VictimQuestion::Node& node : q.nodes) racks.insert(node.rack);
  for (size_t c = 0; c < q.wanted.size(); ++c) {
    std::string all;
    std::map<int, std::string> in_rack;
    for (size_t n = 0; n < q.nodes.size(); ++n) {
      all += fmt::format(" + x_{}_{}", c, n);
      in_rack[q.nodes[n].rack] += fmt::format(" + x_{}_{}", c, n);
      generals += fmt::format(" x_{}_{}", c, n);
      bounds += fmt::format(" 0 <= x_{}_{} <= {}\n", c, n, q.wanted[c].count);
    }
    add(fmt::format("{} - {} p = 0", all, q.wanted[c].count));
    if (q.one_rack)
      for (const auto& [rack, sum] : in_rack) add(fmt::format("{} - {} y_{} <= 0", sum, q.wanted[c].count, rack));
  }
  if (q.one_rack) {
    std::string all;
    for (const int rack : racks) all += fmt::format(" + y_{}", rack), binaries += fmt::format(" y_{}", rack);
    add(all + " <= 1");
  }
  for (size_t n = 0; n < q.nodes.size(); ++n)
    for (const bool gpu : {false, true}) {
      std::string sum;
      int left = gpu ? q.nodes[n].gpu : q.nodes[n].cpu;
      for (size_t c = 0; c < q.wanted.size(); ++c)
        if (const int ask = gpu ? q.wanted[c].gpu : q.wanted[c].cpu; ask > 0)
          sum += fmt::format(" + {} x_{}_{}", ask, c, n);
      if (sum.empty()) continue;
      for (size_t i = 0; i < q.pods.size(); ++i) {
        if (q.pods[i].node != static_cast<int>(n)) continue;
        const int held = gpu ? q.pods[i].gpu : q.pods[i].cpu;
        left -= held;
        if (held > 0) sum += fmt::format(" - {} z_{}", held, i);
      }
      add(fmt::format("{} <= {}", sum, left));
    }
  return fmt::format("Maximize\n obj: {}\nSubject To\n{}Bounds\n{}Generals\n{}\nBinaries\n{}\nEnd\n", objective, rows,
                     bounds, generals, binaries);
}

json Requests(int cpu, int gpu) {
  json requests = {{"cpu", std::to_string(cpu)}};
  if (gpu > 0) requests["nvidia.com/gpu"] = std::to_string(gpu);
  return requests;
}

}  // namespace

VictimQuestion RandomVictims(base::Random& random) {
  VictimQuestion q;
  const int nodes = Pick(random, 2, 8), racks = Pick(random, 1, 3), gangs = Pick(random, 0, 3);
  for (int j = 0; j < gangs; ++j) q.minima.push_back(Pick(random, 1, 4));
  std::set<int> heads;
  for (int n = 0; n < nodes; ++n) {
    q.nodes.push_back({Pick(random, 8, 16), 1 << Pick(random, 1, 3), n % racks});
    int cpu = q.nodes.back().cpu, gpu = q.nodes.back().gpu;
    for (int tries = 0; tries < 8; ++tries) {
      VictimQuestion::Pod pod{n, Pick(random, 1, 4), random.OneIn(4) ? 0 : Pick(random, 1, 3)};
      if (pod.cpu > cpu || pod.gpu > gpu) continue;
      cpu -= pod.cpu;
      gpu -= pod.gpu;
      if (gangs > 0 && random.OneIn(3)) pod.gang = Pick(random, 0, gangs - 1);
      if (pod.gang >= 0 && heads.insert(pod.gang).second) pod.head = true;
      q.pods.push_back(pod);
    }
  }
  const int classes = Pick(random, 1, 3);
  for (int c = 0; c < classes; ++c)
    q.wanted.push_back({Pick(random, 1, 8 / classes), Pick(random, 1, 4), random.OneIn(4) ? 0 : Pick(random, 1, 4)});
  q.one_rack = random.OneIn(3);
  // Gangs at work have their minimum.
  for (size_t j = 0; j < q.minima.size(); ++j) {
    const auto size = std::ranges::count(q.pods, static_cast<int>(j), &VictimQuestion::Pod::gang);
    q.minima[j] = std::max(1, std::min(q.minima[j], static_cast<int>(size)));
  }
  return q;
}

VictimCount AskEngine(const VictimQuestion& q) {
  core::VictimRig rig(0);  // no pod has lost any time yet
  for (size_t n = 0; n < q.nodes.size(); ++n)
    rig.cluster.AddNode({{"name", fmt::format("n{}", n)},
                         {"labels", {{"rack", fmt::format("r{}", q.nodes[n].rack)}}},
                         {"allocatable",
                          {{"cpu", std::to_string(q.nodes[n].cpu)},
                           {"memory", "1Ti"},
                           {"nvidia.com/gpu", std::to_string(q.nodes[n].gpu)}}}});
  for (size_t i = 0; i < q.pods.size(); ++i) {
    const VictimQuestion::Pod& pod = q.pods[i];
    json labels = json::object();
    if (pod.gang >= 0)
      labels = {{"gang", fmt::format("g{}", pod.gang)},
                {"min", std::to_string(q.minima[static_cast<size_t>(pod.gang)])},
                {"role", pod.head ? "head" : "worker"}};
    rig.Add({{"name", fmt::format("p{}", i)},
             {"schedulerName", "s"},
             {"node", fmt::format("n{}", pod.node)},
             {"labels", labels},
             {"requests", Requests(pod.cpu, pod.gpu)}});
  }
  int total = 0;
  for (const VictimQuestion::Wanted& wanted : q.wanted) total += wanted.count;
  for (size_t c = 0; c < q.wanted.size(); ++c)
    for (int i = 0; i < q.wanted[c].count; ++i)
      rig.Add({{"name", fmt::format("t-{}-{}", c, i)},
               {"schedulerName", "s"},
               {"priority", 1},
               {"labels", {{"gang", "t"}, {"min", std::to_string(total)}}},
               {"requests", Requests(q.wanted[c].cpu, q.wanted[c].gpu)}});
  const model::GangId id = rig.GangOf("t");
  if (q.one_rack) rig.book.at(id).spec.topology.required = "rack";
  if (rig.FitsWithout(id, {})) return {true, 0, 0};
  const core::VictimAnswer answer = rig.Ask(id);
  VictimCount goes{answer.fits, 0, 0};
  for (const core::VictimUnit& unit : answer.victims) {
    goes.gangs += unit.what == core::VictimUnit::What::kGang;
    goes.pods += static_cast<int>(unit.pods.size());
  }
  if (answer.fits && !rig.FitsWithout(id, core::VictimRig::PodsOf(answer.victims)))
    throw std::runtime_error("the engine's victims make no room");
  return goes;
}

std::optional<VictimCount> AskSolver(const VictimQuestion& q, int limit_s) {
  const auto values = SolveProgram(Program(q), limit_s);
  if (!values) throw std::runtime_error(values.error().message);
  if (!*values) return std::nullopt;
  VictimCount goes;
  for (const auto& [name, value] : **values) {
    if (std::lround(value) != 1) continue;
    goes.fits = goes.fits || name == "p";
    goes.gangs += name.starts_with("g_");
    goes.pods += name.starts_with("z_");
  }
  return goes.fits ? goes : VictimCount{};
}

bool CheckVictims(int questions, uint64_t seed, int limit_s) {
  int fits = 0, refused = 0, false_refusals = 0, best = 0, one_more = 0, worse = 0, skipped = 0;
  for (int i = 0; i < questions; ++i) {
    base::Random random(seed * 3'000'017 + static_cast<uint64_t>(i));
    const VictimQuestion question = RandomVictims(random);
    const VictimCount engine = AskEngine(question);
    const std::optional<VictimCount> solved = AskSolver(question, limit_s);
    if (!solved) {
      ++skipped;
      continue;
    }
    const VictimCount& solver = *solved;
    if (!solver.fits) {
      refused += !engine.fits;
      continue;
    }
    if (!engine.fits) {
      ++false_refusals;
      fmt::print("victims {}: the engine finds none\n{}", i, Program(question));
      continue;
    }
    ++fits;
    if (engine.gangs == solver.gangs && engine.pods == solver.pods)
      ++best;
    else if (engine.gangs == solver.gangs && engine.pods == solver.pods + 1)
      ++one_more;
    else if (++worse)
      fmt::print("victims {}: {} gangs, {} pods, while {} and {} are enough\n", i, engine.gangs, engine.pods,
                 solver.gangs, solver.pods);
  }
  const double of_best = 100.0 * best / std::max(1, fits);
  fmt::print(
      "victims sought     {}\n  found            {}\n  none would help  {}\n  false refusals   {}\n"
      "  the fewest       {:.2f} %\n  one pod more     {}\n  worse            {}\n"
      "  skipped          {}: the solver takes more than {} s\n",
      questions, fits, refused, false_refusals, of_best, one_more, worse, skipped, limit_s);
  return false_refusals == 0 && worse == 0 && (fits == 0 || of_best >= 95) && skipped * 10 <= questions;
}

}  // namespace tutti::exact
