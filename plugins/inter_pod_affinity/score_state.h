// SPDX-License-Identifier: Apache-2.0
// The score of InterPodAffinity: for each node the sum of the weights of preferred terms over its domains. It reads the
// pod's own terms and those of running pods.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "framework/plugin.h"
#include "plugins/common/class_memo.h"
#include "plugins/common/domain_counts.h"
#include "plugins/common/pod_term.h"
#include "plugins/common/unknown_keys.h"

namespace tutti::plugins {

class InterPodAffinityScore final : public framework::ScoreState {
 public:
  // `hard_weight`: the weight of a running pod's required affinity for this one.
  InterPodAffinityScore(const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot, int64_t hard_weight);

  int64_t Score(model::NodeId n) const override;

  Pods FollowsPods() const override { return preferred_.empty() ? Pods::kAffine : Pods::kAll; }
  void PodChanged(const cluster::PodClass& other, model::NodeId n, int32_t by, framework::Dirty& dirty) override;
  bool DependsOnNodePods() const override { return false; }
  // True while the score is 0 everywhere.
  bool Reads(framework::NodeFacts*) const override {
    return std::ranges::all_of(counts_, [](const DomainCounts& counts) { return counts.nonzero_domains() == 0; });
  }
  bool FollowsNodes() const override { return true; }
  void NodesChanged(std::span<const model::NodeId> nodes, framework::Dirty& dirty) override;
  bool Outdated() const override { return unknown_keys_.Outdated(); }
  size_t memory() const override;

 private:
  struct Preferred {
    PodTerm term;
    int64_t weight;  // negative for anti-affinity
  };
  // What one pod of another class adds, by index in counts_; no weight is 0.
  struct Weights {
    std::vector<std::pair<size_t, int64_t>> list;
    size_t memory() const { return list.capacity() * sizeof list[0]; }  // in bytes
  };

  const Weights& WeightsOf(const cluster::PodClass& other);
  Weights MakeWeights(const cluster::PodClass& other);
  void Apply(const cluster::PodClass& other, model::NodeId n, int64_t by, framework::Dirty* dirty);

  const cluster::PodClass& pod_class_;
  const cluster::Snapshot& snapshot_;
  const int64_t hard_weight_;
  std::vector<Preferred> preferred_;
  std::vector<DomainCounts> counts_;  // by topology key: weights
  UnknownKeys unknown_keys_;          // of these terms
  ClassMemo<Weights> weights_;
};

}  // namespace tutti::plugins
