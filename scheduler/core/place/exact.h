// SPDX-License-Identifier: Apache-2.0
// Exact: finds a placement when there is one, and else proves that there is none.
//
// Members of a kind are interchangeable, so it searches over how many of each kind a node takes. What a set of nodes
// can take is a Pareto set of such counts; sets of nodes are joined from nodes to domains to the whole, and what a rule
// or an anti-affinity forbids within a domain is left out where the domain is complete. With few kinds the sets are
// small, however many nodes there are: a gang of equal workers costs one number a node.
//
// Example: a gang of one head H and three workers W. Node n1 takes {H} or {2W}, n2 {H} or {W}, n3 {W}; counts that are
// at most others, such as {W} on n1, are left out. n1 and n2 together take {H,2W} or {3W}. With n3, {H,2W} + {W} =
// {H,3W}: found. Without n3 no state holds {H,3W}: proved.
//
// It holds for gangs whose members constrain each other by room, ports and anti-affinity under nested levels, not for
// affinity, spread and open claims, where the order of placing counts (core/place/descend.h). Scheduler thread only.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/what_if.h"
#include "core/place/domain_tree.h"
#include "core/place/problem.h"
#include "core/place/rankings.h"

namespace tutti::core {

class Exact {
 public:
  // What is left of members that are no multiple of their slices' size is a smaller slice. It may be in any domain: so
  // several may be given one, and that is seen when the placement is looked at. Then only the first that has room for
  // it is, beside its whole slices; where they are of one kind, and there is nothing else to obey, that does as well as
  // any.
  enum class Remainder { kAnywhere, kOnce };

  // `targets`: how many of each kind are to be placed. Where these are more than the demands ask for, any choice that
  // meets the demands will do; REQUIRES then that there are no rules. Without rules `least` may be less than all that
  // the demands ask for: then any so many of these will do.
  Exact(cluster::WhatIf& what_if, Rankings& rankings, const Problem& problem, const std::vector<Rule>& rules,
        Counts targets, Budget& budget, Remainder remainder = Remainder::kAnywhere,
        std::optional<int64_t> least = std::nullopt);

  // False: not a gang for which this search holds.
  bool applies() const { return applies_; }
  // REQUIRES: applies(). `spots` are in no particular order.
  SearchOutcome Run(std::vector<Spot>* spots);
  const Domain& tree() const { return tree_; }  // the nodes in question by the levels in question

 private:
  // Counts that some nodes can take, and of what they are made: of one node, or of two others, or of less than `left`.
  struct State {
    Counts counts;
    int32_t left = -1, right = -1;
    model::NodeId node;
  };
  using Front = std::vector<int32_t>;  // places in states_, none at most another

  // Two kinds, or a kind and itself, that cannot be in one domain of the level.
  struct Exclusion {
    model::Symbol level;
    size_t a = 0, b = 0;
    friend bool operator==(const Exclusion&, const Exclusion&) = default;
  };

  void FindExclusions(std::vector<model::Symbol>* levels);
  void Arrange(Domain& domain) const;
  Counts RoomOf(const Domain& domain, const Counts& caps) const;
  Counts Narrow(const Domain& domain, Counts caps) const;
  Front Solve(const Domain& domain, const Counts& caps, bool root);
  Front Join(const Front& a, const Front& b, const Counts& caps, const Counts* rest);
  Front Leave(const Domain& domain, const Front& front);
  void Forbid(const Domain& domain, std::vector<Counts>* allowed) const;
  void Obey(const Rule& rule, const Domain& domain, Counts* counts);
  Front NodeFront(model::NodeId n, const Counts& caps);
  const std::vector<Counts>& Patterns(model::NodeId n);
  void Enumerate(model::NodeId n, size_t kind, Counts& counts, std::vector<Counts>* patterns);
  Front Keep(std::vector<State> found);
  int64_t Walk() const;
  bool Enough(const Counts& counts) const;
  Counts Wanted(const Counts& counts) const;
  void Unfold(int32_t state, const Counts& wanted, std::vector<Spot>* spots) const;
  bool TrimEven(const Rule& rule, std::vector<Spot>* spots) const;

  cluster::WhatIf& what_if_;
  Rankings& rankings_;
  const Problem& problem_;
  const std::vector<Rule>& rules_;
  const Counts targets_;
  const int64_t least_;  // members that the demands ask for
  Budget& budget_;
  const Remainder remainder_;
  std::map<const Rule*, model::Symbol> remainder_in_;  // where kOnce: the domain that has it
  Counts caps_;                                        // targets_, or more where kEven may overshoot
  std::vector<Exclusion> exclusions_;
  std::vector<std::vector<int32_t>> rooms_;  // by kind, by slot
  Domain tree_;
  bool applies_ = true;
  bool rough_ = false;  // a rule over several kinds was obeyed in one of several ways: not finding is no proof
  std::vector<State> states_;
  std::vector<model::Symbol> node_keys_;    // under which exclusions hold, each domain of which is one node
  std::vector<model::ResourceId> columns_;  // that the kinds ask for
  absl::flat_hash_map<std::string, std::vector<Counts>> patterns_;  // by what tells nodes apart
};

}  // namespace tutti::core
