// SPDX-License-Identifier: Apache-2.0
#include "core/planner.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/topology_rules.h"

namespace tutti::core {

using framework::Verdict;
using model::NodeId;

// Members by kind, kinds in the order of their oldest members; no demands yet.
Problem Planner::Sort(const Members& members, const Members& must) const {
  Problem problem;
  const absl::flat_hash_set<const Member*> demanded(must.begin(), must.end());
  std::map<std::tuple<uint32_t, std::string, std::string, bool, std::vector<NodeId>>, size_t> kind_of;
  for (Member* member : members) {
    const auto& pod_class = state_.pod(member->pod).pod_class;
    const std::string& subset = member->topology ? member->topology->subset : std::string();
    std::vector<NodeId> refused;
    if (member->refused)
      for (const auto& [name, until_ms] : member->refused->nodes)
        if (const NodeId n = state_.snapshot().FindNode(name); n) refused.push_back(n);
    std::ranges::sort(refused);
    const bool is_must = demanded.contains(member);
    const auto [at, fresh] =
        kind_of.try_emplace({pod_class->id.value, member->role, subset, is_must, refused}, problem.kinds.size());
    if (fresh) problem.kinds.push_back({pod_class, member->role, subset, is_must, std::move(refused), {}});
    problem.kinds[at->second].members.push_back(member);
  }
  return problem;
}

// One member that nothing is asked of but a node: the best one. nullopt: there is more to say.
std::optional<PlanResult> Planner::PlaceLone(const Gang& gang, const Members& members) {
  if (members.size() != 1 || members.front()->shuns_nodes() || !FreeOfTopology(gang)) return std::nullopt;
  const model::PodId pod = members.front()->pod;
  const auto& pod_class = state_.pod(pod).pod_class;
  const NodeId best = rankings_.For(pod_class).Best();
  if (!best) return std::nullopt;
  PlanResult result;
  result.fits = true;
  result.placements.push_back({pod, best, pod_class.get(), rankings_.Picks(pod_class, best)});
  return result;
}

PlanResult Planner::PlaceRequired(const Gang& gang, const Members& pending, const Requirement& requirement) {
  if (requirement.min == requirement.have + 1)
    if (auto placed = PlaceLone(gang, pending)) return *std::move(placed);
  Problem problem = Sort(pending, requirement.must);
  using Of = Demand::Of;
  const auto demand = [&](Of of, const std::string& role, int64_t count, int64_t others, auto of_kind) {
    Demand made{role, count, {}, others, of};
    for (size_t k = 0; k < problem.kinds.size(); ++k)
      if (of_kind(problem.kinds[k])) made.kinds.push_back(k);
    problem.demands.push_back(std::move(made));
  };
  // Without units it is whoever was named as the last: its role counts only where roles do.
  const std::string unnamed = "the last";
  std::string must = "subgroups";
  if (requirement.units.empty() && !requirement.must.empty())
    must = requirement.roles.empty() || requirement.must[0]->role.empty() ? unnamed : requirement.must[0]->role;
  if (!requirement.must.empty())
    demand(Of::kUnits, must, static_cast<int64_t>(requirement.must.size()), 0,
           [](const Kind& kind) { return kind.must; });
  for (const Requirement::Role& role : requirement.roles)
    if (const int64_t more = role.min - role.have - role.must; more > 0)
      demand(Of::kRole, role.name, more, role.must, [&](const Kind& kind) { return kind.role == role.name; });
  const int64_t asked = problem.total();
  if (const int64_t rest = requirement.min - requirement.have - asked; rest > 0)
    demand(Of::kRest, "", rest, asked, [](const Kind&) { return true; });
  PlanResult result = Solve(gang, problem);
  if (result.role == unnamed) result.role.clear();
  return result;
}

PlanResult Planner::PlaceAll(const Gang& gang, const Members& members) {
  if (auto placed = PlaceLone(gang, members)) return *std::move(placed);
  Problem problem = Sort(members);
  problem.DemandAll();
  return Solve(gang, problem);
}

PlanResult Planner::Solve(const Gang& gang, const Problem& problem) {
  bool all = true;
  const RuleSets rule_sets = MakeRules(gang, problem, state_, &all);
  SearchResult found = Search(state_, rankings_, problem).Run(rule_sets, all);
  work_ += found.work;
  PlanResult result;
  result.fits = found.fits;
  result.placements = std::move(found.placements);
  if (result.fits) return result;
  const Attempt& attempt = found.attempt;
  const Demand& demand = problem.demands[attempt.demand];
  result.verdict = found.gave_up ? Verdict::kGaveUp : Verdict::kNotNow;
  result.lacking = problem.total();
  result.placed = std::accumulate(attempt.placed.begin(), attempt.placed.end(), int64_t{0});
  if (!attempt.fits) {
    result.role = demand.role;
    result.role_lacking = demand.count;
    result.role_placed = attempt.placed[attempt.demand];
  }
  for (const auto& [k, count] : attempt.unplaced) result.unplaced.emplace_back(problem.kinds[k].pod_class, count);
  result.refusals = attempt.refusals;
  result.nearest = std::move(found.nearest);
  result.wakes = found.wakes;
  result.short_by = found.short_by;
  for (const size_t k : found.short_kinds)
    if (std::ranges::find(result.short_classes, problem.kinds[k].pod_class) == result.short_classes.end())
      result.short_classes.push_back(problem.kinds[k].pod_class);
  return result;
}

}  // namespace tutti::core
