// SPDX-License-Identifier: Apache-2.0
#include "core/greedy.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "model/quantity.h"

namespace tutti::core {
namespace {

using framework::Ranking;
using model::NodeId;

// How much a class asks for: scarce things first. Equals stay in their members' order, for a class's id is as old as
// this process and would name another role after a restart.
std::tuple<int64_t, int64_t, int64_t> Size(const Kind& kind) {
  int64_t extended = 0, memory = 0, cpu = 0;
  for (const auto& [column, amount] : kind.pod_class->requests) {
    if (column == cluster::kCpuColumn)
      cpu = amount;
    else if (column == cluster::kMemoryColumn)
      memory = amount;
    else if (column > cluster::kPodsColumn)
      extended = model::SaturatingAdd(extended, amount);
  }
  return {extended, memory, cpu};
}

// What is left of the scarcest thing that the class asks for: the last column, for extended resources come after the
// others.
int64_t Left(const Kind& kind, const cluster::Snapshot& snapshot, NodeId n) {
  return snapshot.Free(n,
                       kind.pod_class->requests.empty() ? cluster::kPodsColumn : kind.pod_class->requests.back().first);
}

// Who is served when: the demands, and for each its kinds.
struct Turns {
  std::vector<size_t> demands;
  std::vector<std::vector<size_t>> kinds;
};

// The rest of the minimum, which any role may fill, comes last; before it what comes on top of other demands, and first
// the role with the largest member.
Turns TakeTurns(const Problem& problem, Greedy::Order order) {
  const auto before = [&](size_t a, size_t b) {
    const auto sa = Size(problem.kinds[a]), sb = Size(problem.kinds[b]);
    return order == Greedy::Order::kSmallestFirst ? sa < sb : sb < sa;
  };
  Turns turns;
  turns.demands.resize(problem.demands.size());
  std::iota(turns.demands.begin(), turns.demands.end(), size_t{0});
  for (const Demand& demand : problem.demands) {
    turns.kinds.push_back(demand.kinds);
    std::ranges::stable_sort(turns.kinds.back(), before);
  }
  std::ranges::stable_sort(turns.demands, [&](size_t a, size_t b) {
    const bool rest_a = problem.demands[a].of == Demand::Of::kRest, rest_b = problem.demands[b].of == Demand::Of::kRest;
    if (rest_a != rest_b) return rest_b;
    const bool top_a = problem.demands[a].others > 0, top_b = problem.demands[b].others > 0;
    if (top_a != top_b) return top_b;
    const auto &of_a = turns.kinds[a], &of_b = turns.kinds[b];
    if (of_a.empty() || of_b.empty()) return !of_a.empty() && of_b.empty();
    return Size(problem.kinds[of_a.front()]) > Size(problem.kinds[of_b.front()]);
  });
  return turns;
}

}  // namespace

bool Admits(const Kind& kind, NodeId n) { return kind.refused.empty() || !std::ranges::binary_search(kind.refused, n); }

NodeId Greedy::Choose(const Kind& kind, Order order, const std::vector<NodeId>* nodes) {
  const Ranking& ranking = rankings_.For(kind.pod_class);
  if (order != Order::kTightestNode) {
    const NodeId best = ranking.Best();  // the lowest slot of the best, as below
    if (!best || (Admits(kind, best) && (!nodes || std::ranges::binary_search(*nodes, best)))) return best;
  }
  NodeId best;
  int64_t best_value = 0;
  const auto look = [&](NodeId n) {
    if (!ranking.Feasible(n) || !Admits(kind, n)) return;
    const int64_t value = order == Order::kTightestNode ? -Left(kind, snapshot_, n) : ranking.Total(n);
    if (!best || value > best_value) {
      best = n;
      best_value = value;
    }
  };
  if (nodes)
    std::ranges::for_each(*nodes, look);
  else
    for (uint32_t slot = 0; slot < snapshot_.slots(); ++slot) look(NodeId(slot));
  return best;
}

Attempt Greedy::Run(Order order, bool order_matters, const std::vector<NodeId>* nodes) {
  Attempt attempt;
  attempt.placed.assign(problem_.demands.size(), 0);
  const Turns turns = TakeTurns(problem_, order);
  std::vector<size_t> taken(problem_.kinds.size());
  const auto fill = [&](size_t d) {  // true when something was placed
    const int64_t before_placed = attempt.placed[d];
    // No node takes another of this class, as things are; thousands of kinds may be of it.
    const cluster::PodClass* full = nullptr;
    for (const size_t k : turns.kinds[d]) {
      const Kind& kind = problem_.kinds[k];
      while (kind.pod_class.get() != full && attempt.placed[d] < problem_.demands[d].count &&
             taken[k] < kind.members.size()) {
        const NodeId node = Choose(kind, order, nodes);
        if (!node) {
          if (kind.refused.empty()) full = kind.pod_class.get();
          break;
        }
        full = nullptr;
        what_if_.Place(kind.members[taken[k]++]->pod, *kind.pod_class, node, rankings_.Picks(kind.pod_class, node));
        attempt.spots.push_back({k, node, 1});
        ++attempt.placed[d];
      }
    }
    return attempt.placed[d] > before_placed;
  };
  const auto lacking = [&](size_t d) { return attempt.placed[d] < problem_.demands[d].count; };
  for (bool progress = true; progress && std::ranges::any_of(turns.demands, lacking);) {
    progress = false;
    for (const size_t d : turns.demands) {
      progress = (lacking(d) && fill(d)) || progress;
      if (lacking(d) && !order_matters) break;
    }
    progress = progress && order_matters;
  }

  const auto failed = std::ranges::find_if(turns.demands, lacking);
  attempt.fits = failed == turns.demands.end();
  if (attempt.fits) return attempt;
  attempt.demand = *failed;
  int64_t left = problem_.demands[*failed].count - attempt.placed[*failed];
  for (const size_t k : turns.kinds[*failed]) {
    const int64_t of_kind = std::min<int64_t>(left, problem_.kinds[k].count() - static_cast<int64_t>(taken[k]));
    if (of_kind == 0) continue;
    if (!std::exchange(attempt.any_failed, true)) attempt.failed_kind = k;
    attempt.unplaced.emplace_back(k, of_kind);
    left -= of_kind;
  }
  return attempt;
}

void Greedy::Explain(Attempt* attempt) {
  if (attempt->any_failed) {
    const Kind& kind = problem_.kinds[attempt->failed_kind];
    const Ranking& ranking = rankings_.For(kind.pod_class);
    attempt->refusals = ranking.Explain();
    if (kind.judged) {
      for (const auto& [reason, nodes] : kind.judged->reasons)
        attempt->refusals.reasons.emplace_back(reason, static_cast<size_t>(nodes));
      std::ranges::sort(attempt->refusals.reasons);
    }
    const auto passed_over = kind.judged ? 0 : std::ranges::count_if(kind.refused, [&](NodeId n) {
      return snapshot_.present(n) && ranking.Feasible(n);
    });
    if (passed_over > 0)
      attempt->refusals.reasons.emplace_back("node(s) refused a bind and are tried again soon", passed_over);
  }
  for (const Kind& kind : problem_.kinds) attempt->wakes = attempt->wakes | rankings_.For(kind.pod_class).WakesOn();
}

}  // namespace tutti::core
