// SPDX-License-Identifier: Apache-2.0
#include "plugins/taint_toleration/taint_toleration.h"

#include <algorithm>

#include "plugins/common/tolerations.h"

namespace tutti::plugins {
namespace {

using cluster::TaintEntry;
using framework::RefusedBy;
using framework::Verdict;

class TaintFilterState final : public framework::FilterState {
 public:
  TaintFilterState(const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot)
      : snapshot_(snapshot),
        tolerations_(pod_class.spec->tolerations, snapshot.symbols()),
        effects_(snapshot.symbols()) {}

  void CheckAll(RefusedBy mine, std::span<RefusedBy> refused_by) const override {
    for (uint32_t n = 0; n < refused_by.size(); ++n)
      if (refused_by[n] == framework::kNobody && TaintFilterState::Check(model::NodeId(n)) != Verdict::kFits)
        refused_by[n] = mine;
  }
  Verdict Check(model::NodeId n) const override {
    if (!snapshot_.tainted(n)) return Verdict::kFits;
    const bool repelled = std::ranges::any_of(snapshot_.node(n).taints, [this](const TaintEntry& taint) {
      return effects_.Repels(taint) && !tolerations_.Tolerates(taint);
    });
    return repelled ? Verdict::kNever : Verdict::kFits;
  }
  void Explain(model::NodeId, std::vector<std::string>* reasons) const override {
    reasons->emplace_back("node(s) had untolerated taint(s)");
  }
  bool DependsOnNodePods() const override { return false; }
  bool Reads(framework::NodeFacts*) const override { return true; }

 private:
  const cluster::Snapshot& snapshot_;
  const Tolerations tolerations_;
  const TaintEffects effects_;
};

class TaintScoreState final : public framework::ScoreState {
 public:
  TaintScoreState(const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot)
      : snapshot_(snapshot),
        tolerations_(pod_class.spec->tolerations, snapshot.symbols()),
        effects_(snapshot.symbols()) {}

  bool DependsOnNodePods() const override { return false; }
  bool Reads(framework::NodeFacts*) const override { return true; }
  void ScoreAll(std::span<const RefusedBy> refused_by, std::span<int64_t> raw) const override {
    for (uint32_t n = 0; n < refused_by.size(); ++n)
      if (refused_by[n] == framework::kNobody) raw[n] = TaintScoreState::Score(model::NodeId(n));
  }
  void ScoreSome(std::span<const model::NodeId> nodes, std::span<int64_t> raw) const override {
    for (size_t i = 0; i < nodes.size(); ++i) raw[i] = TaintScoreState::Score(nodes[i]);
  }
  int64_t Score(model::NodeId n) const override {
    if (!snapshot_.tainted(n)) return 0;
    return std::ranges::count_if(snapshot_.node(n).taints, [this](const TaintEntry& taint) {
      return taint.effect == effects_.prefer_no_schedule && !tolerations_.Tolerates(taint);
    });
  }

 private:
  const cluster::Snapshot& snapshot_;
  const Tolerations tolerations_;
  const TaintEffects effects_;
};

}  // namespace

std::unique_ptr<framework::FilterState> TaintToleration::PrepareFilter(const cluster::PodClass& pod_class,
                                                                       const cluster::Snapshot& snapshot) const {
  return std::make_unique<TaintFilterState>(pod_class, snapshot);
}

std::unique_ptr<framework::ScoreState> TaintToleration::PrepareScore(const cluster::PodClass& pod_class,
                                                                     const cluster::Snapshot& snapshot) const {
  return std::make_unique<TaintScoreState>(pod_class, snapshot);
}

}  // namespace tutti::plugins
