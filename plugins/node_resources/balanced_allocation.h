// SPDX-License-Identifier: Apache-2.0
// NodeResourcesBalancedAllocation: prefers nodes whose resources are used more evenly with the pod than without it.
#pragma once

#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "framework/plugin.h"
#include "plugins/node_resources/scored_resources.h"

namespace tutti::plugins {

class NodeResourcesBalancedAllocation final : public framework::Score {
 public:
  // `args`: a NodeResourcesBalancedAllocationArgs, or null. Error kInvalid names the field.
  static base::Result<std::shared_ptr<NodeResourcesBalancedAllocation>> Make(const base::Json& args);

  std::string_view name() const override { return "NodeResourcesBalancedAllocation"; }
  std::unique_ptr<framework::ScoreState> PrepareScore(const cluster::PodClass&,
                                                      const cluster::Snapshot&) const override;

 private:
  std::vector<ResourceWeight> resources_ = DefaultResources();
};

}  // namespace tutti::plugins
