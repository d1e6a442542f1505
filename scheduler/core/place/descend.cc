// SPDX-License-Identifier: Apache-2.0
#include "core/place/descend.h"

#include <algorithm>

#include "core/place/greedy.h"

namespace tutti::core {
namespace {

using framework::Ranking;
using model::NodeId;

// Units of the budget (core/place/problem.h): to see what a placement changes for one kind; and nodes looked at in one.
constexpr int64_t kWorkPerBound = 30, kNodesAtOnce = 2;

// splitmix64: one number for "one more of this kind on this node"; sums of them do not depend on the order.
uint64_t Mark(size_t kind, NodeId node) {
  uint64_t x = (static_cast<uint64_t>(kind) << 32 | node.value) + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

Descend::Descend(cluster::WhatIf& what_if, Rankings& rankings, const Problem& problem, bool opens, Budget& budget)
    : what_if_(what_if),
      rankings_(rankings),
      problem_(problem),
      budget_(budget),
      opens_(opens),
      placed_(problem.kinds.size(), 0) {}

SearchOutcome Descend::Run(const std::vector<NodeId>* nodes, std::vector<Spot>* spots) {
  nodes_ = nodes;
  seen_.clear();
  const cluster::WhatIf::Scope scope(what_if_);
  const bool found = Step();
  if (found) *spots = spots_;
  spots_.clear();
  std::ranges::fill(placed_, 0);
  hash_ = 0;
  return found ? SearchOutcome::kFound : budget_.exhausted() ? SearchOutcome::kUnknown : SearchOutcome::kImpossible;
}

int64_t Descend::Lacking(const Demand& demand) const {
  int64_t lacking = demand.of_kinds();
  for (const size_t k : demand.kinds) lacking -= placed_[k];
  return lacking;
}

// Rooms leave out what members may open for each other, so they are a bound here too.
bool Descend::Hopeless() {
  const auto kinds = static_cast<int64_t>(problem_.kinds.size()),
             nodes = static_cast<int64_t>(what_if_.snapshot().slots());
  budget_.Spend(kinds * (opens_ ? kWorkPerBound + nodes / kNodesAtOnce : kWorkPerBound));
  for (const Demand& demand : problem_.demands) {
    int64_t most = 0;
    for (const size_t k : demand.kinds) {
      const MemberKind& kind = problem_.kinds[k];
      Ranking& ranking = rankings_.For(kind.pod_class);
      ranking.Rooms();
      most += std::min<int64_t>(kind.count() - placed_[k], ranking.total_room());
    }
    if (most < Lacking(demand)) return true;
  }
  return false;
}

// The best first.
std::vector<NodeId> Descend::Candidates(size_t k) {
  const MemberKind& kind = problem_.kinds[k];
  const Ranking& ranking = rankings_.For(kind.pod_class);
  budget_.Spend(static_cast<int64_t>(nodes_ ? nodes_->size() : what_if_.snapshot().slots()) / kNodesAtOnce);
  std::vector<NodeId> candidates;
  const auto look = [&](NodeId n) {
    if (ranking.Feasible(n) && Admits(kind, n)) candidates.push_back(n);
  };
  if (nodes_)
    std::ranges::for_each(*nodes_, look);
  else
    for (uint32_t slot = 0; slot < what_if_.snapshot().slots(); ++slot) look(NodeId(slot));
  std::ranges::stable_sort(candidates, [&](NodeId a, NodeId b) { return ranking.Total(a) > ranking.Total(b); });
  return candidates;
}

bool Descend::Step() {
  if (std::ranges::all_of(problem_.demands, [&](const Demand& demand) { return Lacking(demand) <= 0; })) return true;
  if (!seen_.insert(hash_ + Mark(oldest_kind_, {})).second || Hopeless()) return false;
  std::vector<char> wanted(problem_.kinds.size());
  for (const Demand& demand : problem_.demands)
    if (Lacking(demand) > 0)
      for (const size_t k : demand.kinds) wanted[k] = 1;
  for (size_t k = oldest_kind_; k < problem_.kinds.size(); ++k) {
    const MemberKind& kind = problem_.kinds[k];
    if (!wanted[k] || placed_[k] == kind.count()) continue;
    const size_t before = oldest_kind_;
    if (!opens_) oldest_kind_ = k;
    for (const NodeId n : Candidates(k)) {
      if (!budget_.Spend(Budget::kPlacement)) break;
      what_if_.Place(kind.members[static_cast<size_t>(placed_[k])]->id, *kind.pod_class, n,
                     rankings_.TakingsOn(kind.pod_class, n));
      spots_.push_back({k, n, 1});
      ++placed_[k];
      hash_ += Mark(k, n);
      if (Step()) return true;
      hash_ -= Mark(k, n);
      --placed_[k];
      spots_.pop_back();
      what_if_.TakeBack();
    }
    oldest_kind_ = before;
    if (budget_.exhausted()) return false;
  }
  return false;
}

}  // namespace tutti::core
