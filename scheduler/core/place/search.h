// SPDX-License-Identifier: Apache-2.0
// Search: a placement of all that a problem asks for under one of its rule sets, or the reason why there is none.
//
// In this order: the members one after another on the nodes that are best for them; what must be true of any placement;
// other orders; the exact search, or where members open nodes for each other the one that takes back. Where very many
// parts are each to be in one domain, they are placed one after another instead. A refusal is a proof unless `gave_up`.
//
// Example: two members A of 2 CPUs and one B of 3, on n1 with 4 CPUs free and n2 with 3, where the emptier node is the
// better one. The largest first: B on n1, A on n2, and no node takes the other A. Each class for itself would fit:
// three As, two Bs. So another order: B on the tightest node, n2, and both As on n1: found. If n1 had 3 CPUs free, no
// order would do. The exact search then joins {A} or {B} on n1 with {A} or {B} on n2. No state holds {2A,B}: proved.
// Scheduler thread only.
#pragma once

#include <optional>
#include <vector>

#include "cluster/what_if.h"
#include "core/place/bounds.h"
#include "core/place/domain_tree.h"
#include "core/place/figures.h"
#include "core/place/greedy.h"
#include "core/place/problem.h"
#include "core/place/rankings.h"
#include "core/place/topology_rules.h"

namespace tutti::core {

struct SearchResult {
  bool fits = false;
  int64_t work = 0;  // what it spent, in units of the budget; what was free for it as well
  std::vector<cluster::Placement> placements;
  // When it does not.
  bool gave_up = false;
  Figures figures;               // of the members one after another, in the nearest domain if there are rules
  framework::Refusals refusals;  // of the first kind that found no node, with the placed ones in place
  std::vector<std::pair<size_t, int64_t>> unplaced;  // Attempt::unplaced
  std::optional<NearestDomain> nearest;
  framework::Wake wakes = framework::Wake::kAll;
  // There is no placement before nodes have room for so many more members of some of these kinds; none where it gave
  // up.
  std::vector<size_t> short_kinds;
  int64_t short_by = 1;
};

class Search {
 public:
  // `what_if` is as before after each call; what is speculated there already holds for the search.
  Search(cluster::WhatIf& what_if, Rankings& rankings, const Problem& problem);

  SearchResult Run(const Rules& rules);

 private:
  Bounds& BoundsOf();
  // Tells whether some demand cannot be met by the room there is, each class for itself: then no placement exists.
  bool Disproved();
  bool TornApart(const std::vector<Rule>& rules) const;
  SearchOutcome TryFree(SearchResult* result);
  SearchOutcome TryRules(const std::vector<Rule>& rules, SearchResult* result);
  SearchOutcome TryExactly(const std::vector<Rule>& rules, SearchResult* result);
  SearchOutcome TryInDomains(const std::vector<Rule>& rules, SearchResult* result);
  bool TryGreedily(Greedy::Order order, const std::vector<model::NodeId>* nodes, const std::vector<Rule>& rules,
                   SearchResult* result);
  bool TakeSpots(const std::vector<Spot>& spots, const Domain& tree, const std::vector<Rule>& rules,
                 SearchResult* result);
  bool TakeSpotsIn(const Domain& domain, std::vector<Spot> spots, Counts* used);
  bool Put(const Spot& spot, Counts* used);
  std::vector<Counts> Targets(bool* all) const;
  std::vector<Domain> DomainsByRoom(model::Symbol level, const std::vector<size_t>& kinds);
  int64_t RoomIn(const std::vector<model::NodeId>& nodes, const std::vector<size_t>& kinds);
  std::vector<size_t> AllKinds() const;
  int64_t WorkOf(const Attempt& attempt) const;

  // -- search_explain.cc --
  struct Places;
  // Explains a failed search by one more greedy run, then by exact runs if it is unclear how many fit. What it finds by
  // luck is taken.
  void Explain(const std::vector<Rule>& rules, SearchResult* result);
  Places FindPlaces(const std::vector<Rule>& rules, std::optional<NearestDomain>* nearest);
  int64_t MostThatFit(const std::vector<Rule>& rules, const std::optional<NearestDomain>& nearest);
  Attempt CountExactly(Attempt attempt, Greedy& greedy, cluster::WhatIf::Mark start, const Places& places,
                       int64_t* most);
  std::vector<Unfit> AskWhy(const Attempt& attempt, const Greedy& greedy, const Places& places);
  void SayOutside(const MemberKind* kind, const std::vector<model::NodeId>& inside, framework::Refusals* refusals);
  std::optional<std::vector<model::NodeId>> FindNearest(const Rule& rule, NearestDomain* nearest);
  framework::Wake WakesOf(const std::vector<size_t>& kinds);

  // For more rules than these an exact search is not tried at all, and domains are not sought for them.
  static constexpr size_t kMostRules = 6;

  cluster::WhatIf& what_if_;
  Rankings& rankings_;
  const Problem& problem_;
  const int64_t most_work_;
  Budget budget_;
  std::optional<Bounds> bounds_;  // once they are asked for
  int64_t last_try_ = 0;          // what the last greedy try cost: the next pays for it, and the first is free
  bool order_matters_ = false;
  std::vector<size_t> short_kinds_;  // of the demand that cannot be met
  int64_t short_by_ = 1;             // members
};

}  // namespace tutti::core
