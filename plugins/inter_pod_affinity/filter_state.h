// SPDX-License-Identifier: Apache-2.0
// The filter of InterPodAffinity: required terms of the pod, and required anti-affinity of running pods.
#pragma once

#include <algorithm>
#include <vector>

#include "framework/plugin.h"
#include "plugins/common/class_memo.h"
#include "plugins/common/domain_counts.h"
#include "plugins/common/pod_term.h"
#include "plugins/common/unknown_keys.h"

namespace tutti::plugins {

class InterPodAffinityFilter final : public framework::FilterState {
 public:
  InterPodAffinityFilter(const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot);

  framework::Verdict Check(model::NodeId n) const override;
  void Explain(model::NodeId n, std::vector<std::string>* reasons) const override;
  void CheckAll(framework::RefusedBy mine, std::span<framework::RefusedBy> refused_by) const override;

  void CheckSome(framework::RefusedBy mine, std::span<const model::NodeId> nodes,
                 std::span<framework::RefusedBy> refused_by) const override;
  bool AloneForNow() const override { return affinity_.empty() && anti_.empty() && against_.empty(); }

  int64_t Room(model::NodeId n) const override;
  // A placed pod may end a refusal by affinity; by anti-affinity it can only cause one.
  Reach reach() const override { return affinity_.empty() ? Reach::kDomains : Reach::kCluster; }
  void ExcludedBy(const cluster::PodClass& other, std::vector<model::Symbol>* keys) override;
  void Gathers(std::vector<model::Symbol>* keys) const override;
  int64_t Most(std::span<const int32_t> room, std::span<const cluster::PodClass* const> others) const override;

  // Only pods with terms matter to a pod without terms.
  Pods FollowsPods() const override { return affinity_.empty() && anti_.empty() ? Pods::kAffine : Pods::kAll; }
  void PodChanged(const cluster::PodClass& other, model::NodeId n, int32_t by, framework::Dirty& dirty) override;
  bool DependsOnNodePods() const override { return false; }
  bool Reads(framework::NodeFacts*) const override {
    return affinity_.empty() && anti_.empty() &&
           std::ranges::all_of(against_, [](const DomainCounts& counts) { return counts.nonzero_domains() == 0; });
  }
  bool FollowsNodes() const override { return true; }
  void NodesChanged(std::span<const model::NodeId> nodes, framework::Dirty& dirty) override;
  bool Outdated() const override { return unknown_keys_.Outdated(); }
  size_t memory() const override;

 private:
  struct Term {
    PodTerm term;
    DomainCounts counts;  // pods that the term selects (for affinity: that all terms select)
  };
  // What a pod of another class means to this one.
  struct Relation {
    bool affine = false;             // all affinity terms of this class select it
    std::vector<size_t> anti;        // indices of the anti-affinity terms that select it
    std::vector<size_t> against_me;  // indices in against_: the keys of its terms that select this class
    size_t memory() const { return (anti.capacity() + against_me.capacity()) * sizeof(size_t); }  // in bytes
  };

  const Relation& RelationTo(const cluster::PodClass& other);
  Relation MakeRelation(const cluster::PodClass& other);
  bool SelectedByAll(const cluster::PodClass& other) const;
  bool AnyAffine() const;
  bool FitsAffinity(model::NodeId n) const;
  bool FitsAnti(model::NodeId n) const;
  bool FitsAgainstMe(model::NodeId n) const;
  void Apply(const cluster::PodClass& other, model::NodeId n, int64_t by, framework::Dirty* dirty);

  const cluster::PodClass& pod_class_;
  const cluster::Snapshot& snapshot_;
  bool selects_itself_ = false;       // all its affinity terms select its own class
  std::vector<model::Symbol> alone_;  // keys in whose domains it keeps other pods of its class out
  std::vector<Term> affinity_, anti_;
  std::vector<DomainCounts> against_;  // by topology key: running pods with terms that select this class
  UnknownKeys unknown_keys_;           // of any of these terms
  ClassMemo<Relation> relations_;
};

}  // namespace tutti::plugins
