// SPDX-License-Identifier: Apache-2.0
#include "core/place/greedy.h"

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
std::tuple<int64_t, int64_t, int64_t> Size(const MemberKind& kind) {
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
int64_t Left(const MemberKind& kind, const cluster::Snapshot& snapshot, NodeId n) {
  return snapshot.Free(n,
                       kind.pod_class->requests.empty() ? cluster::kPodsColumn : kind.pod_class->requests.back().first);
}

// The order in which demands are served, and for each its kinds.
struct DemandOrder {
  std::vector<size_t> demands;
  std::vector<std::vector<size_t>> kinds;
};

// Heads come before all, then members of higher priority.
std::pair<bool, int64_t> Rank(const MemberKind& kind) {
  return {!kind.members.front()->head, -int64_t{kind.members.front()->priority}};
}

// The rest of the minimum, which any role may fill, comes last; before it what comes on top of other demands, and first
// the role with the largest member. `by_rank`: heads and members of higher priority come first, and of kinds of equal
// size those of the first role by name, so that the order in which members came makes no difference.
DemandOrder TakeTurns(const Problem& problem, Greedy::Order order, bool by_rank) {
  const auto before = [&](size_t a, size_t b) {
    if (by_rank && Rank(problem.kinds[a]) != Rank(problem.kinds[b]))
      return Rank(problem.kinds[a]) < Rank(problem.kinds[b]);
    const auto sa = Size(problem.kinds[a]), sb = Size(problem.kinds[b]);
    if (by_rank && sa == sb) return problem.kinds[a].role < problem.kinds[b].role;
    return order == Greedy::Order::kSmallestFirst ? sa < sb : sb < sa;
  };
  DemandOrder turns;
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
    const MemberKind &first_a = problem.kinds[of_a.front()], &first_b = problem.kinds[of_b.front()];
    if (by_rank && Rank(first_a) != Rank(first_b)) return Rank(first_a) < Rank(first_b);
    return Size(first_a) > Size(first_b);
  });
  return turns;
}

// Kinds that may be on some nodes only come first, so that no other kind takes those nodes.
void PutFirst(const auto& confined, const Problem& problem, DemandOrder* turns) {
  for (std::vector<size_t>& kinds : turns->kinds) std::ranges::stable_partition(kinds, confined);
  std::ranges::stable_partition(turns->demands, [&](size_t d) {
    return problem.demands[d].of != Demand::Of::kRest && std::ranges::all_of(problem.demands[d].kinds, confined);
  });
}

// By demand: so many of the members taken, by kind, are for it.
std::vector<int64_t> Served(const Problem& problem, std::vector<size_t> taken) {
  std::vector<int64_t> served;
  for (const Demand& demand : problem.demands) {
    int64_t& of_demand = served.emplace_back(0);
    for (const size_t k : demand.kinds) {
      const int64_t more = std::min(demand.count - of_demand, static_cast<int64_t>(taken[k]));
      of_demand += more;
      taken[k] -= static_cast<size_t>(more);
    }
  }
  return served;
}

// Notes what the demands, of which so many members are placed, lack still.
void NoteUnplaced(const Problem& problem, const DemandOrder& turns, const std::vector<int64_t>& placed,
                  Attempt* attempt) {
  std::vector<int64_t> over;  // by kind: members that no demand has been said to lack
  for (size_t k = 0; k < problem.kinds.size(); ++k)
    over.push_back(problem.kinds[k].count() - static_cast<int64_t>(attempt->taken[k]));
  for (const size_t d : turns.demands) {
    int64_t left = problem.demands[d].count - placed[d];
    for (const size_t k : turns.kinds[d]) {
      const int64_t of_kind = std::min(left, over[k]);
      if (of_kind == 0) continue;
      attempt->unplaced.emplace_back(k, of_kind);
      over[k] -= of_kind;
      left -= of_kind;
    }
  }
}

}  // namespace

bool Admits(const MemberKind& kind, NodeId n) {
  return kind.refused.empty() || !std::ranges::binary_search(kind.refused, n);
}

NodeId Greedy::Choose(const MemberKind& kind, Order order, const std::vector<NodeId>* nodes) {
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
  return Place(order, order_matters, false, [nodes](size_t) { return nodes; }, {});
}

Attempt Greedy::Count(bool order_matters, const NodesOf& nodes_of, const std::vector<Spot>& first) {
  return Place(Order::kLargestFirst, order_matters, true, [&nodes_of](size_t k) { return nodes_of[k]; }, first);
}

void Greedy::Take(size_t k, NodeId node, Attempt* attempt) {
  const MemberKind& kind = problem_.kinds[k];
  what_if_.Place(kind.members[attempt->taken[k]++]->id, *kind.pod_class, node,
                 rankings_.TakingsOn(kind.pod_class, node));
  attempt->spots.push_back({k, node, 1});
}

Attempt Greedy::Place(Order order, bool order_matters, bool to_the_end, const auto& nodes_of,
                      const std::vector<Spot>& first) {
  Attempt attempt;
  attempt.taken.assign(problem_.kinds.size(), 0);
  attempt.failed.assign(problem_.kinds.size(), 0);
  for (const Spot& spot : first)
    for (int32_t i = 0; i < spot.count && rankings_.For(problem_.kinds[spot.kind].pod_class).Feasible(spot.node); ++i)
      Take(spot.kind, spot.node, &attempt);
  std::vector<int64_t> placed = Served(problem_, attempt.taken);
  DemandOrder turns = TakeTurns(problem_, order, to_the_end);
  if (to_the_end) PutFirst([&nodes_of](size_t k) { return nodes_of(k) != nullptr; }, problem_, &turns);
  const auto fill = [&](size_t d) {  // true when something was placed
    const int64_t before_placed = placed[d];
    // None of these nodes takes another of this class, as things are; thousands of kinds may be of it.
    std::pair<const cluster::PodClass*, const std::vector<NodeId>*> full;
    for (const size_t k : turns.kinds[d]) {
      const MemberKind& kind = problem_.kinds[k];
      const std::pair here(kind.pod_class.get(), nodes_of(k));
      while (placed[d] < problem_.demands[d].count && attempt.taken[k] < kind.members.size()) {
        const NodeId node = here == full ? NodeId() : Choose(kind, order, here.second);
        attempt.failed[k] = !node;
        if (!node) {
          if (kind.refused.empty()) full = here;
          break;
        }
        full = {};
        Take(k, node, &attempt);
        ++placed[d];
      }
    }
    return placed[d] > before_placed;
  };
  const auto lacking = [&](size_t d) { return placed[d] < problem_.demands[d].count; };
  for (bool progress = true; progress && std::ranges::any_of(turns.demands, lacking);) {
    progress = false;
    for (const size_t d : turns.demands) {
      progress = (lacking(d) && fill(d)) || progress;
      if (lacking(d) && !order_matters && !to_the_end) break;
    }
    progress = progress && order_matters;
  }

  attempt.fits = std::ranges::none_of(turns.demands, lacking);
  if (attempt.fits || !to_the_end) return attempt;
  NoteUnplaced(problem_, turns, placed, &attempt);
  return attempt;
}

framework::Refusals Greedy::Explain(size_t k) const {
  const MemberKind& kind = problem_.kinds[k];
  const Ranking& ranking = rankings_.For(kind.pod_class);
  framework::Refusals refusals = ranking.Explain();
  if (kind.judged) {
    for (const auto& [reason, nodes] : kind.judged->reasons)
      refusals.reasons.emplace_back(reason, static_cast<size_t>(nodes));
    std::ranges::sort(refusals.reasons);
  }
  const auto passed_over = kind.judged ? 0 : std::ranges::count_if(kind.refused, [&](NodeId n) {
    return snapshot_.present(n) && ranking.Feasible(n);
  });
  if (passed_over > 0) refusals.reasons.emplace_back("node(s) refused a bind and are tried again soon", passed_over);
  return refusals;
}

}  // namespace tutti::core
