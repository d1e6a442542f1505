// SPDX-License-Identifier: Apache-2.0
#include "core/planner.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace tutti::core {

using cluster::PodClass;
using cluster::WhatIf;
using framework::Ranking;
using framework::Verdict;
using model::NodeId;

// `count` members out of `candidates`, of one role or, with an empty role, of any.
struct Planner::Demand {
  std::string role;
  int64_t count = 0;
  std::vector<Member*> candidates;
};

namespace {

// How much a class asks for: scarce things first.
std::tuple<int64_t, int64_t, int64_t> Size(const PodClass& pod_class) {
  int64_t extended = 0, memory = 0, cpu = 0;
  for (const auto& [column, amount] : pod_class.requests) {
    if (column == cluster::kCpuColumn) cpu = amount;
    else if (column == cluster::kMemoryColumn) memory = amount;
    else if (column > cluster::kPodsColumn) extended += amount;
  }
  return {extended, memory, cpu};
}

// The feasible node that the class leaves least of, by the scarcest thing it asks for.
NodeId Tightest(const Ranking& ranking, const cluster::Snapshot& snapshot, const auto& allowed) {
  const PodClass& pod_class = ranking.pod_class();
  const model::ResourceId column = pod_class.requests.empty() ? cluster::kPodsColumn : pod_class.requests.back().first;
  NodeId best;
  for (uint32_t slot = 0; slot < snapshot.slots(); ++slot)
    if (const NodeId n(slot); ranking.Feasible(n) && allowed(n) && (!best || snapshot.Free(n, column) < snapshot.Free(best, column)))
      best = n;
  return best;
}

}  // namespace

PlanResult Planner::PlaceRequired(const std::vector<Member*>& pending, const Requirement& requirement, base::Millis now_ms) {
  std::vector<Demand> demands;
  int64_t by_role = 0;
  for (const Requirement::Role& role : requirement.roles)
    if (role.have < role.min) {
      Demand demand{role.name, role.min - role.have, {}};
      for (Member* member : pending)
        if (member->role == role.name) demand.candidates.push_back(member);
      by_role += demand.count;
      demands.push_back(std::move(demand));
    }
  if (const int64_t rest = requirement.min - requirement.have - by_role; rest > 0) demands.push_back({"", rest, pending});

  std::set<const PodClass*> classes;
  for (const Member* member : pending) classes.insert(state_.pod(member->pod).pod_class.get());
  PlanResult best = Try(demands, Order::kLargestFirst, now_ms);
  if (best.fits || classes.size() < 2) return best;
  for (const Order order : {Order::kTightestNode, Order::kSmallestFirst}) {
    PlanResult other = Try(demands, order, now_ms);
    if (other.fits) return other;
  }
  // A demand that one class must meet, and cannot even alone, is a proof; else another assignment may exist.
  for (const Demand& demand : demands) {
    const bool one_class = std::ranges::all_of(demand.candidates, [&](const Member* member) {
      return state_.pod(member->pod).pod_class == state_.pod(demand.candidates.front()->pod).pod_class;
    });
    if (one_class && !Try({demand}, Order::kLargestFirst, now_ms).fits) return best;
  }
  if (best.placed > 0) best.verdict = Verdict::kGaveUp;
  return best;
}

PlanResult Planner::PlaceAll(const std::vector<Member*>& members, base::Millis now_ms) {
  return Try({{"", static_cast<int64_t>(members.size()), members}}, Order::kLargestFirst, now_ms);
}

PlanResult Planner::Try(const std::vector<Demand>& demands, Order order, base::Millis now_ms) {
  PlanResult result;
  WhatIf what_if(state_.planning());
  const auto class_of = [this](const Member* member) -> const auto& { return state_.pod(member->pod).pod_class; };

  std::vector<Demand> ordered = demands;
  for (Demand& demand : ordered) {
    std::ranges::stable_sort(demand.candidates, [&](const Member* a, const Member* b) {
      const auto sa = std::tuple_cat(Size(*class_of(a)), std::tuple(class_of(a)->id.value));
      const auto sb = std::tuple_cat(Size(*class_of(b)), std::tuple(class_of(b)->id.value));
      return order == Order::kSmallestFirst ? sa < sb : sb < sa;
    });
    result.lacking += demand.count;
  }
  // The rest of the minimum, which any role may fill, comes last; before it the role with the largest member.
  std::ranges::stable_sort(ordered, [&](const Demand& a, const Demand& b) {
    if (a.role.empty() != b.role.empty()) return b.role.empty();
    if (a.candidates.empty() || b.candidates.empty()) return !a.candidates.empty();
    return Size(*class_of(a.candidates.front())) > Size(*class_of(b.candidates.front()));
  });

  std::set<model::PodId> taken;
  for (const Demand& demand : ordered) {
    int64_t placed = 0;
    const PodClass* hopeless = nullptr;  // the class that just found no node, unless its nodes were refused to a member
    Member* first_failed = nullptr;
    for (Member* member : demand.candidates) {
      if (placed == demand.count) break;
      if (taken.contains(member->pod) || class_of(member).get() == hopeless) continue;
      Ranking& ranking = rankings_.For(class_of(member));
      const NodeId node = Choose(ranking, *member, order, now_ms);
      if (!node) {
        if (!first_failed) {
          first_failed = member;
          result.refusals = ranking.Explain();
          result.wakes = ranking.WakesOn();
        }
        if (member->refused_nodes.empty()) hopeless = class_of(member).get();
        else result.wakes = result.wakes | framework::Wake::kTime;
        continue;
      }
      what_if.Place(member->pod, *class_of(member), node);
      taken.insert(member->pod);
      ++placed;
      ++result.placed;
    }
    if (placed < demand.count) {
      result.role = demand.role;
      result.role_lacking = demand.count;
      result.role_placed = placed;
      if (first_failed) result.failed_class = class_of(first_failed);
      return result;  // the WhatIf undoes itself
    }
  }
  result.fits = true;
  result.placements = std::move(what_if).Take();
  return result;
}

NodeId Planner::Choose(Ranking& ranking, const Member& member, Order order, base::Millis now_ms) const {
  const auto allowed = [&](NodeId n) {
    if (member.refused_nodes.empty()) return true;
    const auto at = member.refused_nodes.find(state_.snapshot().node(n).name);
    return at == member.refused_nodes.end() || at->second <= now_ms;
  };
  if (order == Order::kTightestNode) return Tightest(ranking, state_.snapshot(), allowed);
  if (const NodeId best = ranking.Best(); !best || allowed(best)) return best;
  NodeId best;  // the best one was refused to this member: rare, so a pass over the nodes is fine
  for (uint32_t slot = 0; slot < state_.snapshot().slots(); ++slot)
    if (const NodeId n(slot); ranking.Feasible(n) && allowed(n) && (!best || ranking.Total(n) > ranking.Total(best))) best = n;
  return best;
}

}  // namespace tutti::core
