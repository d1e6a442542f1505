// SPDX-License-Identifier: Apache-2.0
// Greedy: places members one after another, each on the node that is best for it, and never takes one back.
//
// It is the first thing tried, and what a refusal is explained by. Scheduler thread only.
#pragma once

#include <utility>
#include <vector>

#include "cluster/state.h"
#include "cluster/what_if.h"
#include "core/problem.h"
#include "core/rankings.h"

namespace tutti::core {

struct Attempt {
  std::vector<Spot> spots;  // one entry a member, in the order placed
  bool fits = false;
  // When it does not: where it stopped.
  size_t demand = 0;            // the one that fell short
  std::vector<int64_t> placed;  // by demand
  bool any_failed = false;
  size_t failed_kind = 0;                            // of the first that found no node, if any_failed
  std::vector<std::pair<size_t, int64_t>> unplaced;  // of `demand`, from that one on: so many of a kind
  framework::Refusals refusals;                      // why, with the placed ones in place
  framework::Wake wakes = framework::Wake::kNothing;
};

class Greedy {
 public:
  enum class Order { kLargestFirst, kSmallestFirst, kTightestNode };

  // `what_if` gets the placements and keeps them.
  Greedy(const Problem& problem, Rankings& rankings, cluster::WhatIf& what_if, const cluster::Snapshot& snapshot)
      : problem_(problem), rankings_(rankings), what_if_(what_if), snapshot_(snapshot) {}

  // On `nodes` only, when not null; they are sorted. `order_matters`: a member that found no node may find one when
  // others are placed.
  Attempt Run(Order order, bool order_matters, const std::vector<model::NodeId>* nodes);

  // Adds why it stopped, asking every node for its words. REQUIRES: nothing was taken back since.
  void Explain(Attempt* attempt);

  // The best node for one more of the kind, or invalid.
  model::NodeId Choose(const Kind& kind, Order order, const std::vector<model::NodeId>* nodes);

 private:
  const Problem& problem_;
  Rankings& rankings_;
  cluster::WhatIf& what_if_;
  const cluster::Snapshot& snapshot_;
};

// A node that did not refuse members of the kind.
bool Admits(const Kind& kind, model::NodeId n);

}  // namespace tutti::core
