// SPDX-License-Identifier: Apache-2.0
// Greedy: places members one after another, each on the node that is best for it, and never takes one back.
//
// It is the first thing tried, and what a refusal is explained by. Scheduler thread only.
#pragma once

#include <utility>
#include <vector>

#include "cluster/state.h"
#include "cluster/what_if.h"
#include "core/place/problem.h"
#include "core/place/rankings.h"

namespace tutti::core {

struct Attempt {
  std::vector<Spot> spots;  // one entry a member, in the order placed
  bool fits = false;
  std::vector<size_t> taken;  // members placed, by kind
  std::vector<char> failed;   // by kind: no node took another of it when that was last tried
  // So many of a kind that demands lack still; the kinds that failed first come first.
  std::vector<std::pair<size_t, int64_t>> unplaced;
};

class Greedy {
 public:
  enum class Order { kLargestFirst, kSmallestFirst, kTightestNode };

  // `what_if` gets the placements and keeps them.
  Greedy(const Problem& problem, Rankings& rankings, cluster::WhatIf& what_if)
      : problem_(problem), rankings_(rankings), what_if_(what_if), snapshot_(what_if.snapshot()) {}

  // Places members on `nodes` only, when not null; they are sorted. `order_matters`: a member that found no node may
  // find one when others are placed. It stops where it is plain that not all fit.
  Attempt Run(Order order, bool order_matters, const std::vector<model::NodeId>* nodes);

  // Places the largest first, and to the end, to count how many fit. The members of a kind go on those nodes of
  // `nodes_of` only, where these are not null; they are sorted. `first`: where some members are placed before the
  // others.
  using NodesOf = std::vector<const std::vector<model::NodeId>*>;  // by kind
  Attempt Count(bool order_matters, const NodesOf& nodes_of, const std::vector<Spot>& first = {});

  // Returns why no node takes another of the kind, in every node's words. REQUIRES: nothing was taken back since.
  framework::Refusals Explain(size_t kind) const;

  // Returns the best node for one more of the kind, or invalid.
  model::NodeId Choose(const MemberKind& kind, Order order, const std::vector<model::NodeId>* nodes);

 private:
  Attempt Place(Order order, bool order_matters, bool to_the_end, const auto& nodes_of, const std::vector<Spot>& first);
  void Take(size_t kind, model::NodeId node, Attempt* attempt);

  const Problem& problem_;
  Rankings& rankings_;
  cluster::WhatIf& what_if_;
  const cluster::Snapshot& snapshot_;
};

// Tells whether the node did not refuse members of the kind.
bool Admits(const MemberKind& kind, model::NodeId n);

}  // namespace tutti::core
