// SPDX-License-Identifier: Apache-2.0
#include "core/place/planner.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>

#include "cluster/as_if_nominated.h"
#include "core/gangs/lightest.h"
#include "core/gangs/topology.h"
#include "core/place/topology_rules.h"

namespace tutti::core {

using framework::Verdict;
using model::NodeId;

namespace {

// What it costs to say of a node why it does not do, in units of the budget.
constexpr int64_t kExplainNode = 4;

// Those that refused it a bind of late, unless it tries them again, and those that an extender did not take.
std::vector<NodeId> NodesNotToTry(const Member& member, bool tries_again, const cluster::Snapshot& nodes) {
  std::vector<NodeId> refused;
  if (member.refused && !tries_again)
    for (const auto& [name, until_ms] : member.refused->nodes)
      if (const NodeId n = nodes.FindNode(name); n) refused.push_back(n);
  if (member.is_judged() && member.opinion->reply)
    for (uint32_t slot = 0; slot < nodes.slots(); ++slot)
      if (const NodeId n(slot);
          nodes.present(n) && !std::ranges::binary_search(member.opinion->reply->nodes, nodes.node(n).name))
        refused.push_back(n);
  std::ranges::sort(refused);
  const auto twice = std::ranges::unique(refused);
  refused.erase(twice.begin(), twice.end());
  return refused;
}

bool HasScores(const Problem& problem) {
  return std::ranges::any_of(problem.kinds,
                             [](const MemberKind& kind) { return kind.judged && !kind.judged->scores.empty(); });
}

int64_t ScoreOf(const MemberKind& kind, const std::string& node) {
  if (!kind.judged) return 0;
  const auto at = std::ranges::lower_bound(kind.judged->scores, node, {}, &std::pair<std::string, int64_t>::first);
  return at != kind.judged->scores.end() && at->first == node ? at->second : 0;
}

// So many more searches for members of higher priority than those that were found a place for.
constexpr int kPreferAtMost = 8;

bool PrioritiesDiffer(const Members& members) {
  return std::ranges::adjacent_find(members, std::ranges::not_equal_to(), &Member::priority) != members.end();
}

// The highest first.
std::vector<int32_t> PrioritiesOf(const Members& members) {
  std::vector<int32_t> priorities;
  for (const Member* member : members) priorities.push_back(member->priority);
  std::ranges::sort(priorities, std::ranges::greater());
  return priorities;
}

// Takes the last `count` members of the class that were chosen out of `candidates`.
void LeaveOut(const cluster::PodClass& pod_class, int64_t count, const Members& chosen,
              const cluster::ClusterState& state, Members* candidates) {
  absl::flat_hash_set<const Member*> out;
  for (auto member = chosen.rbegin(); member != chosen.rend() && std::ssize(out) < count; ++member)
    if (state.pod((*member)->pod).pod_class.get() == &pod_class) out.insert(*member);
  const auto kept = std::remove_if(candidates->begin(), candidates->end(),
                                   [&out](const Member* member) { return out.contains(member); });
  candidates->erase(kept, candidates->end());
}

}  // namespace

// Members by kind, kinds in the order of their first members; no demands yet.
Problem Planner::Sort(const Members& members, const Members& must, bool tries_again) const {
  Problem problem;
  const absl::flat_hash_set<const Member*> demanded(must.begin(), must.end());
  // Members with scores of their own are kinds of their own: they are not alike.
  using Key = std::tuple<uint32_t, std::string, std::string, bool, std::vector<NodeId>, uint32_t>;
  std::map<Key, size_t> kind_of;
  for (Member* member : members) {
    const auto& pod_class = state_.pod(member->pod).pod_class;
    const std::string& subset = member->topology ? member->topology->subset : std::string();
    std::vector<NodeId> refused = NodesNotToTry(*member, tries_again, state_.snapshot());
    const bool is_must = demanded.contains(member);
    const auto judged = member->is_judged() ? member->opinion->reply : nullptr;
    const uint32_t by_itself = judged && !judged->scores.empty() ? member->id.value + 1 : 0;
    const auto [at, fresh] = kind_of.try_emplace(
        {pod_class->id.value, member->role, subset, is_must, refused, by_itself}, problem.kinds.size());
    if (fresh) problem.kinds.push_back({pod_class, member->role, subset, is_must, std::move(refused), judged, {}});
    problem.kinds[at->second].members.push_back(member);
  }
  return problem;
}

// None is of the gang itself, whose members are placed again.
std::vector<cluster::Placement> Planner::NominatedBeside(const Gang& gang, const Members& members) const {
  if (state_.nominations().empty()) return {};
  int32_t lowest = std::numeric_limits<int32_t>::max();
  for (const Member* member : members) lowest = std::min(lowest, state_.pod(member->pod).pod->spec->priority);
  return cluster::NominatedPods(state_, {lowest, [&gang](model::PodId pod) {
                                           return std::ranges::find(gang.members, pod, &Member::pod) !=
                                                  gang.members.end();
                                         }});
}

NodeId Planner::OwnRoom(model::PodId pod) {
  const NodeId own = state_.snapshot().FindNode(state_.nominations().NodeOf(pod));
  if (!own) return {};
  const std::vector<cluster::Placement> earlier = NominatedBefore(pod, own);
  const cluster::AsIfNominated as_if(what_if_, earlier);
  return rankings_.For(state_.pod(pod).pod_class).Feasible(own) ? own : NodeId();
}

// Of pods of one priority for which a node is kept, the first has its room first: else none of them could start before
// the victims of all are gone.
std::vector<cluster::Placement> Planner::NominatedBefore(model::PodId pod, NodeId own) const {
  const int32_t priority = state_.pod(pod).pod->spec->priority;
  std::vector<cluster::Placement> earlier;
  bool later = false;
  for (const model::PodId other : state_.nominations().For(state_.snapshot().node(own).name)) {
    const cluster::PodEntry& entry = state_.pod(other);
    later = later || other == pod;
    if (later && entry.pod->spec->priority <= priority) continue;
    if (cluster::CountsFor(state_, other, {priority, [](model::PodId) { return false; }}))
      earlier.push_back({{}, own, entry.pod_class.get()});
  }
  return earlier;
}

// One member that nothing is asked of but a node: that which is kept for it, or else the best one. nullopt: there is
// more to say.
std::optional<PlanResult> Planner::PlaceLone(const Gang& gang, const Members& members) {
  if (members.size() != 1 || members.front()->shuns_nodes() || !FreeOfTopology(gang)) return std::nullopt;
  ++searches_;
  const auto& pod_class = state_.pod(members.front()->pod).pod_class;
  NodeId best = OwnRoom(members.front()->pod);
  if (!best) best = BestBeside(gang, members);
  if (!best) return std::nullopt;
  PlanResult result;
  result.fits = true;
  result.placements.push_back({members.front()->id, best, pod_class.get(), rankings_.TakingsOn(pod_class, best)});
  return result;
}

std::optional<cluster::Placement> Planner::PlaceOn(const Member& member, NodeId node) {
  const auto& pod_class = state_.pod(member.pod).pod_class;
  auto takings = rankings_.FitsOn(pod_class, node);
  if (!takings) return std::nullopt;
  return cluster::Placement{member.id, node, pod_class.get(), *std::move(takings)};
}

// A node is asked about with those that are nominated for it alone, as kube-scheduler does.
NodeId Planner::BestBeside(const Gang& gang, const Members& members) {
  const cluster::PodEntry& entry = state_.pod(members.front()->pod);
  const std::vector<cluster::Placement> nominated = NominatedBeside(gang, members);
  const auto stands = [&](NodeId n) {
    if (std::ranges::find(nominated, n, &cluster::Placement::node) == nominated.end()) return true;
    const cluster::AsIfNominated as_if(what_if_, nominated, n);
    return rankings_.For(entry.pod_class).Feasible(n);
  };
  NodeId best = rankings_.For(entry.pod_class).Best();
  Problem problem;
  while (best && !stands(best)) {
    if (problem.kinds.empty()) {
      problem = Sort(members);
      problem.DemandAll();
    }
    std::vector<NodeId>& refused = problem.kinds.front().refused;
    refused.insert(std::ranges::lower_bound(refused, best), best);
    const PlanResult next = Solve(gang, problem);
    best = next.fits ? next.placements.front().node : NodeId();
  }
  return best;
}

std::optional<PlanResult> Planner::Doubts(const std::vector<cluster::Placement>& placements) {
  cluster::WhatIf::Scope scope(what_if_);
  for (const cluster::Placement& one : placements) {
    const std::shared_ptr<const cluster::PodClass> pod_class = one.pod_class->shared_from_this();
    framework::Ranking& ranking = rankings_.For(pod_class);
    if (ranking.Feasible(one.node)) {
      what_if_.Place(one.member, *pod_class, one.node, one.takings);
      continue;
    }
    PlanResult doubts;
    auto figures = std::make_shared<Figures>();  // how many fit beside them is not counted
    figures->needed = std::ssize(placements);
    doubts.figures = std::move(figures);
    doubts.unplaced = {{pod_class, std::ssize(placements) - std::ssize(scope.placements())}};
    doubts.refusals = ranking.Explain();
    return doubts;
  }
  return std::nullopt;
}

// First with them in place; then what was found is tried without them, for a pod may need nodes that they would take
// yet. If it does not stand, what is found without them is tried with them.
PlanResult Planner::PlaceBeside(const std::vector<cluster::Placement>& nominated,
                                const std::function<PlanResult()>& place) {
  if (nominated.empty()) return place();
  std::optional<cluster::AsIfNominated> as_if(std::in_place, what_if_, nominated);
  PlanResult with = place();
  as_if.reset();
  if (!with.fits || !Doubts(with.placements)) return with;
  PlanResult without = place();
  if (!without.fits) return without;
  as_if.emplace(what_if_, nominated);
  std::optional<PlanResult> doubts = Doubts(without.placements);
  return doubts ? *std::move(doubts) : std::move(without);
}

PlanResult Planner::PlaceRequired(const Gang& gang, const Members& pending, const Requirement& requirement) {
  if (requirement.min == requirement.have + 1)
    if (auto placed = PlaceLone(gang, pending)) return *std::move(placed);
  PlanResult result = PlaceAny(gang, pending, requirement);
  if (result.fits && result.placements.size() < pending.size() && PrioritiesDiffer(pending))
    Prefer(gang, pending, requirement, &result);
  return result;
}

// A member that finds no place among the first by priority is left out, the last of its class first, and others are
// asked.
void Planner::Prefer(const Gang& gang, const Members& pending, const Requirement& requirement, PlanResult* result) {
  absl::flat_hash_set<model::MemberId> placed;
  for (const cluster::Placement& placement : result->placements) placed.insert(placement.member);
  Members candidates = pending, found;
  std::ranges::copy_if(pending, std::back_inserter(found),
                       [&](const Member* member) { return placed.contains(member->id); });
  const std::vector<int32_t> found_priorities = PrioritiesOf(found);
  for (int search = 0; search < kPreferAtMost; ++search) {
    const Members chosen = HighestPriority(candidates, requirement);
    if (chosen.size() < found.size() || PrioritiesOf(chosen) <= found_priorities) return;
    PlanResult preferred = PlaceAny(gang, chosen, requirement);
    if (preferred.fits) {
      *result = std::move(preferred);
      return;
    }
    if (preferred.unplaced.empty()) return;
    for (const auto& [pod_class, count] : preferred.unplaced) LeaveOut(*pod_class, count, chosen, state_, &candidates);
  }
}

Problem Planner::ProblemOf(const Members& pending, const Requirement& requirement) const {
  Problem problem = Sort(pending, requirement.must, requirement.tries_again);
  using Of = Demand::Of;
  const auto demand = [&](Of of, int64_t count, int64_t others, auto of_kind) {
    Demand made{count, {}, others, of};
    for (size_t k = 0; k < problem.kinds.size(); ++k)
      if (of_kind(problem.kinds[k])) made.kinds.push_back(k);
    problem.demands.push_back(std::move(made));
  };
  if (!requirement.must.empty())
    demand(Of::kUnits, std::ssize(requirement.must), 0, [](const MemberKind& kind) { return kind.must; });
  for (const Requirement::Role& role : requirement.roles)
    if (const int64_t more = role.min - role.have - role.must; more > 0)
      demand(Of::kRole, more, role.must, [&](const MemberKind& kind) { return kind.role == role.name; });
  const int64_t asked = problem.total();
  if (const int64_t rest = requirement.min - requirement.have - asked; rest > 0)
    demand(Of::kRest, rest, asked, [](const MemberKind&) { return true; });
  return problem;
}

PlanResult Planner::PlaceAny(const Gang& gang, const Members& pending, const Requirement& requirement) {
  return Place(gang, pending, ProblemOf(pending, requirement));
}

PlanResult Planner::Place(const Gang& gang, const Members& pending, const Problem& problem) {
  return PlaceBeside(NominatedBeside(gang, pending), [&] { return Solve(gang, problem); });
}

PlanResult Planner::PlaceAll(const Gang& gang, const Members& members) {
  if (auto placed = PlaceLone(gang, members)) return *std::move(placed);
  Problem problem = Sort(members);
  problem.DemandAll();
  return PlaceBeside(NominatedBeside(gang, members), [&] { return Solve(gang, problem); });
}

// Each member on the node with the best sum of our score and the extenders'. These are preferences: where not all find
// a place so, or the gang has rules about topology, the search goes by our scores alone.
std::optional<PlanResult> Planner::PlaceByScores(const Problem& problem) {
  const cluster::Snapshot& nodes = state_.snapshot();
  cluster::WhatIf::Scope scope(what_if_);
  const auto best_node = [&](const MemberKind& kind) {
    const framework::Ranking& ranking = rankings_.For(kind.pod_class);
    NodeId best;
    int64_t best_score = 0;
    for (uint32_t slot = 0; slot < nodes.slots(); ++slot) {
      const NodeId n(slot);
      if (!nodes.present(n) || !ranking.Feasible(n) || std::ranges::binary_search(kind.refused, n)) continue;
      const int64_t score = ranking.Total(n) + ScoreOf(kind, nodes.node(n).name);
      if (!best || score > best_score) best = n, best_score = score;
    }
    return best;
  };
  std::vector<int32_t> taken(problem.kinds.size());
  for (const Demand& demand : problem.demands) {
    int64_t left = demand.count;
    for (const size_t k : demand.kinds)
      for (const MemberKind& kind = problem.kinds[k]; left > 0 && taken[k] < kind.count(); --left) {
        const NodeId node = best_node(kind);
        if (!node) break;
        what_if_.Place(kind.members[static_cast<size_t>(taken[k]++)]->id, *kind.pod_class, node,
                       rankings_.TakingsOn(kind.pod_class, node));
      }
    if (left > 0) return std::nullopt;
  }
  PlanResult result;
  result.fits = true;
  result.placements = scope.Take();
  return result;
}

PlanResult Planner::Solve(const Gang& gang, const Problem& problem) {
  ++searches_;
  if (HasScores(problem) && FreeOfTopology(gang))
    if (auto placed = PlaceByScores(problem)) return *std::move(placed);
  const Rules rules = MakeRules(gang, problem, state_);
  SearchResult found = Search(what_if_, rankings_, problem).Run(rules);
  work_ += found.work;
  PlanResult result;
  result.fits = found.fits;
  result.placements = std::move(found.placements);
  if (result.fits) return result;
  result.verdict = found.gave_up ? Verdict::kGaveUp : Verdict::kNotNow;
  if (!problem.explains) return result;
  work_ += kExplainNode * static_cast<int64_t>(state_.snapshot().slots());
  for (const auto& [k, count] : found.unplaced) result.unplaced.emplace_back(problem.kinds[k].pod_class, count);
  result.figures = std::make_shared<const Figures>(std::move(found.figures));
  result.refusals = std::move(found.refusals);
  result.nearest = std::move(found.nearest);
  result.wakes = found.wakes;
  for (const std::vector<Rule>& set : rules.sets)
    for (const Rule& rule : set) result.by_labels = result.by_labels || !rule.held.empty();
  result.short_by = found.short_by;
  for (const size_t k : found.short_kinds)
    if (std::ranges::find(result.short_classes, problem.kinds[k].pod_class) == result.short_classes.end())
      result.short_classes.push_back(problem.kinds[k].pod_class);
  return result;
}

}  // namespace tutti::core
