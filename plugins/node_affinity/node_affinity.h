// SPDX-License-Identifier: Apache-2.0
// NodeAffinity: nodeSelector, required and preferred node affinity, and the affinity that the configuration adds to
// every pod.
#pragma once

#include <optional>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "framework/plugin.h"

namespace tutti::plugins {

class NodeAffinity final : public framework::Filter, public framework::Score {
 public:
  // `args`: a NodeAffinityArgs, or null. Error kInvalid names the field.
  static base::Result<std::shared_ptr<NodeAffinity>> Make(const base::Json& args);

  std::string_view name() const override { return "NodeAffinity"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override { return framework::Wake::kNodeAdded | framework::Wake::kNodeLabels; }
  std::unique_ptr<framework::ScoreState> PrepareScore(const cluster::PodClass&,
                                                      const cluster::Snapshot&) const override;
  framework::Normalize normalize() const override { return framework::Normalize::kMax; }

 private:
  std::optional<model::NodeSelector> added_required_;
  std::vector<model::PreferredNodeTerm> added_preferred_;
};

}  // namespace tutti::plugins
