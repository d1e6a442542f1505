// SPDX-License-Identifier: Apache-2.0
#include "framework/node_trial.h"

#include <algorithm>

#include "framework/ranking_parts.h"

namespace tutti::framework {

using model::NodeId;

namespace {

// What it says of a node stays as it is while pods without affinity terms and claims come and go there.
bool IgnoresPlainPods(const FilterState& state) {
  return !state.DependsOnNodePods() && state.FollowsPods() != State::Pods::kAll;
}

// Upstream's PreFilter skips InterPodAffinity where no term, of the pod or of others, concerns it; pods that come later
// are then not looked at. A state that follows pods with terms and yet reads nothing but a node's own facts says that.
bool ConcernsNoTerm(const FilterState& state) {
  NodeFacts unread;
  return state.FollowsPods() == State::Pods::kAffine && !state.DependsOnNodePods() && state.Reads(&unread);
}

}  // namespace

NodeTrial::NodeTrial(Ranking& ranking) : ranking_(*ranking.impl_) {
  if (ranking_.class_refuser) return;
  for (const ActiveFilter& filter : ranking_.filters) skipped_.push_back(ConcernsNoTerm(*filter.state));
  decided_by_amounts_ = std::ranges::all_of(ranking_.filters, [](const ActiveFilter& filter) {
    return filter.state->NeedsDecide() || IgnoresPlainPods(*filter.state);
  });
  for (const ActiveFilter& filter : ranking_.filters)
    if (filter.state->NeedsDecide()) filter.state->Needs(&amounts_);
}

void NodeTrial::Told(const cluster::PodClass& pod_class, NodeId n, int32_t by) {
  for (size_t i = 0; i < ranking_.filters.size(); ++i) {
    ActiveFilter& filter = ranking_.filters[i];
    if (IsSkipped(i)) continue;
    const State::Pods follows = filter.state->FollowsPods();
    if (follows == State::Pods::kAll || (follows == State::Pods::kAffine && pod_class.affine()))
      filter.state->PodTried(pod_class, n, by, unread_);
  }
  unread_.Clear();
}

bool NodeTrial::LeftOut(NodeId n) const {
  return ranking_.class_refuser ||
         (ranking_.only_nodes && !std::ranges::binary_search(*ranking_.only_nodes, ranking_.snapshot.node(n).name));
}

Verdict NodeTrial::Check(NodeId n) const {
  if (LeftOut(n)) return Verdict::kNever;
  for (size_t i = 0; i < ranking_.filters.size(); ++i)
    if (const Verdict verdict = IsSkipped(i) ? Verdict::kFits : ranking_.filters[i].state->Check(n);
        verdict != Verdict::kFits)
      return verdict;
  return Verdict::kFits;
}

NodeVerdict NodeTrial::Explain(NodeId n, Ask ask) const {
  if (ranking_.class_refuser || (ask == Ask::kAsRanking && LeftOut(n))) return ranking_.ExplainLeftOut();
  for (size_t i = 0; i < ranking_.filters.size(); ++i) {
    const ActiveFilter& filter = ranking_.filters[i];
    NodeVerdict result{IsSkipped(i) ? Verdict::kFits : filter.state->Check(n), filter.plugin->name(), {}};
    if (result.verdict == Verdict::kFits) continue;
    filter.state->Explain(n, &result.reasons);
    return result;
  }
  return {};
}

Verdict NodeTrial::Check(NodeId n, bool* for_amounts) const {
  *for_amounts = false;
  if (LeftOut(n)) return Verdict::kNever;
  Verdict first = Verdict::kFits;
  for (size_t i = 0; i < ranking_.filters.size(); ++i) {
    const ActiveFilter& filter = ranking_.filters[i];
    const Verdict verdict = IsSkipped(i) ? Verdict::kFits : filter.state->Check(n);
    if (verdict == Verdict::kFits) continue;
    *for_amounts = filter.state->NeedsDecide();
    if (first == Verdict::kFits) first = verdict;
    if (!*for_amounts) break;
  }
  return first;
}

std::string NodeTrial::LackOf(model::ResourceId column) const {
  for (const ActiveFilter& filter : ranking_.filters)
    if (filter.state->NeedsDecide()) return filter.state->LackOf(column);
  return {};
}

}  // namespace tutti::framework
