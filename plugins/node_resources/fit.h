// SPDX-License-Identifier: Apache-2.0
// NodeResourcesFit: refuses nodes whose allocatable has not enough left for the pod's requests. Prefers nodes by one of
// kube-scheduler's three strategies.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "framework/plugin.h"
#include "plugins/node_resources/scored_resources.h"

namespace tutti::plugins {

struct FitArgs {
  enum class Strategy { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };

  std::vector<std::string> ignored_resources, ignored_groups;  // of extended resources only
  Strategy strategy = Strategy::kLeastAllocated;
  std::vector<ResourceWeight> resources = DefaultResources();
  std::vector<std::pair<int64_t, int64_t>> shape;  // (utilization 0..100, score 0..100), rising in utilization

  // `args`: a NodeResourcesFitArgs, or null. Error kInvalid names the field.
  static base::Result<FitArgs> Read(const base::Json& args);
};

class NodeResourcesFit final : public framework::Filter, public framework::Score {
 public:
  explicit NodeResourcesFit(FitArgs args) : args_(std::move(args)) {}

  std::string_view name() const override { return "NodeResourcesFit"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override {
    return framework::Wake::kNodeAdded | framework::Wake::kNodeCapacity | framework::Wake::kPodGone;
  }
  std::unique_ptr<framework::ScoreState> PrepareScore(const cluster::PodClass&,
                                                      const cluster::Snapshot&) const override;

 private:
  bool Ignores(std::string_view resource) const;

  const FitArgs args_;
};

}  // namespace tutti::plugins
