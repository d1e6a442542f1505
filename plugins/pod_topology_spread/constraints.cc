// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/constraints.h"

#include <algorithm>
#include <limits>

#include "plugins/common/size_limits.h"

namespace tutti::plugins {

using cluster::PodClass;
using model::NodeId;

Constraint::Constraint(const model::TopologySpread& spread, const PodClass& pod_class, cluster::SymbolTable& symbols)
    : key(symbols.Intern(spread.topology_key)),
      max_skew(spread.max_skew),
      min_domains(static_cast<size_t>(std::max(1, spread.min_domains.value_or(1)))),
      honors_affinity(spread.node_affinity_policy.empty() || spread.node_affinity_policy == "Honor"),
      honors_taints(spread.node_taints_policy == "Honor"),
      selector(spread.selector, symbols) {
  selector.AddValuesOf(spread.match_label_keys, pod_class.labels, symbols);
  selects_itself = selector.Match(pod_class.labels);
  counts_itself = Counts(pod_class.labels);
}

Constraints::Constraints(Kind kind, Nodes nodes, std::span<const model::TopologySpread> wanted,
                         const PodClass& pod_class, const cluster::Snapshot& snapshot)
    : nodes_(nodes),
      pod_class_(pod_class),
      snapshot_(snapshot),
      affinity_(pod_class.spec->node_selector, pod_class.spec->required_node_affinity, snapshot.symbols()),
      tolerations_(pod_class.spec->tolerations, snapshot.symbols()),
      effects_(snapshot.symbols()) {
  static_assert(kMostSpreadConstraints <= std::numeric_limits<Mask>::digits);
  // The filter Unsupported refuses a pod with more.
  const model::TopologySpread* last = nullptr;
  for (const model::TopologySpread& spread : wanted) {
    if (spread.hard != (kind == Kind::kHard) || list_.size() >= kMostSpreadConstraints) continue;
    list_.emplace_back(spread, pod_class, snapshot.symbols());
    list_.back().selects_as_last =
        last != nullptr && last->selector == spread.selector && last->match_label_keys == spread.match_label_keys;
    last = &spread;
  }
  if (list_.empty()) return;
  const Around nothing = [](const Constraint&) {};
  for (uint32_t n = 0; n < snapshot.slots(); ++n) NodeChanged(NodeId(n), nothing, nothing);
  CountAll();
}

// Without the memo: most classes match nothing, and are never met again.
void Constraints::CountAll() {
  const Around nothing = [](const Constraint&) {};
  for (size_t i = 0; i < list_.size();) {
    // Those that count the same pods, together.
    Mask counted = 0;
    const Constraint& first = list_[i];
    do counted |= Mask{1} << i;
    while (++i < list_.size() && list_[i].selects_as_last);
    first.selector.ForEachCandidate(snapshot_, pod_class_.ns, [&](const cluster::Occupants& occupants) {
      if (const Mask matched = Matching(*occupants.pod_class) & counted)
        for (const auto& [n, count] : occupants.nodes) Count(matched, n, count, nothing, nothing);
    });
  }
}

bool Constraints::HasAllKeys(NodeId n) const {
  return std::ranges::all_of(list_, [n](const Constraint& c) { return c.counts.DomainOf(n) != SpreadCounts::kNone; });
}

Constraints::Mask Constraints::Matching(const PodClass& other) const {
  Mask matched = 0;
  if (other.terminating || other.ns != pod_class_.ns) return matched;
  bool counts = false;
  for (size_t i = 0; i < list_.size(); ++i) {
    if (!list_[i].selects_as_last) counts = list_[i].Counts(other.labels);
    if (counts) matched |= Mask{1} << i;
  }
  return matched;
}

Constraints::Mask Constraints::MatchedBy(const PodClass& other) {
  return matched_by_.Of(other, [this](const PodClass& unseen) { return Matching(unseen); });
}

size_t Constraints::memory() const {
  size_t bytes = versions_.capacity() * sizeof(uint64_t) + matched_by_.memory();
  for (const Constraint& constraint : list_) bytes += constraint.counts.memory();
  return bytes;
}

void Constraints::PodChanged(const PodClass& other, NodeId n, int32_t by, const Around& before, const Around& after) {
  Count(MatchedBy(other), n, by, before, after);
}

void Constraints::Count(Mask matched, NodeId n, int32_t by, const Around& before, const Around& after) {
  for (size_t i = 0; i < list_.size(); ++i) {
    if ((matched >> i & 1) == 0) continue;
    before(list_[i]);
    list_[i].counts.Add(n, by);
    after(list_[i]);
  }
}

void Constraints::PodTried(const PodClass& other, NodeId n, int32_t by) {
  if (other.ns != pod_class_.ns || !HasAllKeys(n)) return;
  for (Constraint& constraint : list_)
    if (constraint.selector.Match(other.labels)) constraint.counts.Add(n, by);
}

void Constraints::NodeChanged(NodeId n, const Around& before, const Around& after) {
  if (n.index() >= versions_.size()) versions_.resize(snapshot_.slots());
  const cluster::NodeEntry& node = snapshot_.node(n);
  if (versions_[n.index()] == node.version) return;
  versions_[n.index()] = node.version;
  const bool counts =
      node.present && (nodes_ == Nodes::kWithItsKey ||
                       std::ranges::all_of(list_, [&](const Constraint& c) { return node.Label(c.key).valid(); }));
  const bool affine = counts && affinity_.Match(node);
  const bool tolerated = counts && std::ranges::none_of(node.taints, [this](const cluster::TaintEntry& taint) {
                           return effects_.Repels(taint) && !tolerations_.Tolerates(taint);
                         });
  for (Constraint& c : list_) {
    const bool eligible = counts && (affine || !c.honors_affinity) && (tolerated || !c.honors_taints);
    const model::Symbol value = node.present ? node.Label(c.key) : model::Symbol();
    if (c.counts.Is(n, value, eligible)) continue;
    before(c);
    c.counts.SetNode(n, value, eligible);
    after(c);
  }
}

}  // namespace tutti::plugins
