// SPDX-License-Identifier: Apache-2.0
// Constraints: the compiled hard or soft spread constraints of a class; it keeps their counts up to date. The filter
// and the score of PodTopologySpread share it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cluster/snapshot.h"
#include "plugins/common/class_memo.h"
#include "plugins/common/node_match.h"
#include "plugins/common/pod_term.h"
#include "plugins/common/tolerations.h"
#include "plugins/pod_topology_spread/spread_counts.h"

namespace tutti::plugins {

struct Constraint {
  Constraint(const model::TopologySpread& spread, const cluster::PodClass& pod_class, cluster::SymbolTable& symbols);

  // Tells whether pods with these labels count. An empty selector counts none, though it selects all; this is
  // kube-scheduler's rule.
  bool Counts(const cluster::LabelEntries& labels) const { return !selector.everything() && selector.Match(labels); }

  model::Symbol key;
  int64_t max_skew;
  size_t min_domains;
  bool honors_affinity, honors_taints;
  PodSelector selector;
  bool selects_itself;           // the class matches its own selector
  bool counts_itself;            // its pods count
  bool selects_as_last = false;  // it counts the same pods as the constraint before it in the list
  SpreadCounts counts;
};

class Constraints {
 public:
  enum class Kind { kHard, kSoft };
  // Which nodes count: those with the keys of all constraints, or for each constraint those with its key.
  enum class Nodes { kWithAllKeys, kWithItsKey };
  Constraints(Kind kind, Nodes nodes, std::span<const model::TopologySpread> wanted, const cluster::PodClass& pod_class,
              const cluster::Snapshot& snapshot);

  bool empty() const { return list_.empty(); }
  const std::vector<Constraint>& list() const { return list_; }
  // Tells whether n is one of the nodes that count.
  bool LooksAt(model::NodeId n) const { return nodes_ == Nodes::kWithItsKey || HasAllKeys(n); }
  // Tells whether n has the keys of all constraints.
  bool HasAllKeys(model::NodeId n) const;

  // Counts a pod that came or went. Calls `before` and `after` around the change of each constraint.
  using Around = std::function<void(const Constraint&)>;
  void PodChanged(const cluster::PodClass& other, model::NodeId n, int32_t by, const Around& before,
                  const Around& after);
  // Counts a pod that came or went in a trial. There kube-scheduler also counts pods that are being deleted, and pods
  // that an empty selector selects. Outside a trial it counts neither.
  void PodTried(const cluster::PodClass& other, model::NodeId n, int32_t by);
  // Catches up with the labels and taints of n. Calls neither for a constraint that they do not change.
  void NodeChanged(model::NodeId n, const Around& before, const Around& after);

  size_t memory() const;  // in bytes

 private:
  using Mask = uint64_t;  // of constraints

  // Returns the constraints that count pods of `other`. MatchedBy remembers what Matching finds.
  Mask Matching(const cluster::PodClass& other) const;
  Mask MatchedBy(const cluster::PodClass& other);
  void CountAll();
  void Count(Mask matched, model::NodeId n, int32_t by, const Around& before, const Around& after);

  const Nodes nodes_;
  const cluster::PodClass& pod_class_;
  const cluster::Snapshot& snapshot_;
  const NodeMatch affinity_;
  const Tolerations tolerations_;
  const TaintEffects effects_;
  std::vector<Constraint> list_;
  std::vector<uint64_t> versions_;  // of each node, as last counted
  ClassMemo<Mask> matched_by_;
};

}  // namespace tutti::plugins
