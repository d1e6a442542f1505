// SPDX-License-Identifier: Apache-2.0
// Planner: finds nodes for what a gang lacks, all of it or none.
//
// It makes a Problem of members and minima, has a Search look for a placement, and says in a gang's terms what came of
// it. Where pods of the gang's priority or a higher one are nominated (cluster/nominations.h), the placement stands
// both with them in place and without them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/state.h"
#include "cluster/what_if.h"
#include "core/gangs/census.h"
#include "core/gangs/gang.h"
#include "core/place/rankings.h"
#include "core/place/search.h"

namespace tutti::core {

struct PlanResult {
  std::vector<cluster::Placement> placements;  // when it fits
  bool fits = false;
  // When it does not.
  framework::Verdict verdict = framework::Verdict::kNotNow;
  std::shared_ptr<const Figures> figures;  // how many fit, what is short; never null
  framework::Refusals refusals;            // of the first that found no node, as seen with the placed ones in place
  // Classes of members that found no node, the first of them first.
  std::vector<std::pair<std::shared_ptr<const cluster::PodClass>, int64_t>> unplaced;
  std::optional<NearestDomain> nearest;  // for a gang that asks for topology
  framework::Wake wakes = framework::Wake::kAll;
  bool by_labels = false;  // where members have nodes counts by labels of these: new ones may end it, room or no room
  // Of the members that lack nodes; there is no placement before nodes have room for `short_by` more of them. Empty:
  // the search gave up, and nothing is known.
  std::vector<std::shared_ptr<const cluster::PodClass>> short_classes;
  int64_t short_by = 1;
};

class Planner {
 public:
  Planner(cluster::ClusterState& state, Rankings& rankings) : state_(state), rankings_(rankings), what_if_(state) {}

  // Places the members that `requirement` lacks, chosen from `pending`, and none on a node that refused it, unless the
  // requirement tries_again. If not all are needed, those of higher priority are, as far as a few more searches find a
  // place for them. The state is as before afterwards.
  PlanResult PlaceRequired(const Gang& gang, const Members& pending, const Requirement& requirement);

  // Returns the same question as a problem, to be put several times. Where that has `explains` false, nothing but the
  // verdict is said of a refusal. No member is preferred to another.
  Problem ProblemOf(const Members& pending, const Requirement& requirement) const;
  PlanResult Place(const Gang& gang, const Members& pending, const Problem& problem);

  // Returns the pods of others that keep room from some of these members, where it is kept for them.
  std::vector<cluster::Placement> NominatedBeside(const Gang& gang, const Members& members) const;
  // Returns the node that is kept for the pod, if its room there is free; else invalid.
  model::NodeId OwnRoom(model::PodId pod);

  // Places exactly these members, all or none.
  PlanResult PlaceAll(const Gang& gang, const Members& members);

  // Places the member on the node. Returns nullopt if that does not take it now.
  std::optional<cluster::Placement> PlaceOn(const Member& member, model::NodeId node);

  // Returns the WhatIf of all questions. What is speculated in it when a question is put holds for the answer.
  cluster::WhatIf& what_if() { return what_if_; }

  // Returns what all searches have spent so far, in units of the budget (core/place/problem.h).
  int64_t work() const { return work_; }
  // Returns how often nodes were sought for some members, be it by a look into a ranking.
  uint64_t searches() const { return searches_; }
  // Adds what was spent on a question about more than one search.
  void Spend(int64_t work) { work_ += work; }

 private:
  // Those for which this node is kept, and which come before the pod: of higher priority, or nominated earlier.
  std::vector<cluster::Placement> NominatedBefore(model::PodId pod, model::NodeId own) const;
  std::optional<PlanResult> PlaceLone(const Gang& gang, const Members& members);
  model::NodeId BestBeside(const Gang& gang, const Members& members);
  PlanResult PlaceBeside(const std::vector<cluster::Placement>& nominated, const std::function<PlanResult()>& place);
  // Places them one after another, each on a node that is feasible then. Returns why one is not; nullopt: all are.
  std::optional<PlanResult> Doubts(const std::vector<cluster::Placement>& placements);
  Problem Sort(const Members& members, const Members& must = {}, bool tries_again = false) const;
  std::optional<PlanResult> PlaceByScores(const Problem& problem);
  PlanResult PlaceAny(const Gang& gang, const Members& pending, const Requirement& requirement);
  // Replaces the placement by one of members of higher priority, if there is one.
  void Prefer(const Gang& gang, const Members& pending, const Requirement& requirement, PlanResult* result);
  PlanResult Solve(const Gang& gang, const Problem& problem);

  const cluster::ClusterState& state_;
  Rankings& rankings_;
  cluster::WhatIf what_if_;
  int64_t work_ = 0;
  uint64_t searches_ = 0;
};

}  // namespace tutti::core
