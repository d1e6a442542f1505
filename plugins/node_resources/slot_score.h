// SPDX-License-Identifier: Apache-2.0
// SlotScoreState: a score of a node by what it has and uses of ScoredResources, and by nothing else.
//
// Formula::Of(views, slot) returns the score of the node in the slot. It is a template parameter so that the loops over
// nodes call nothing.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "framework/plugin.h"
#include "plugins/node_resources/scored_resources.h"

namespace tutti::plugins {

template <typename Formula>
class SlotScoreState final : public framework::ScoreState {
 public:
  explicit SlotScoreState(ScoredResources resources) : resources_(std::move(resources)) {}

  bool Reads(framework::NodeFacts* facts) const override { return resources_.Reads(facts); }
  int64_t Score(model::NodeId n) const override {
    resources_.Look(&views_);
    return Formula::Of(views_, n.index());
  }
  void ScoreAll(std::span<const framework::RefusedBy> refused_by, std::span<int64_t> raw) const override {
    resources_.Look(&views_);
    for (size_t n = 0; n < refused_by.size(); ++n)
      if (refused_by[n] == framework::kNobody) raw[n] = Formula::Of(views_, n);
  }
  void ScoreSome(std::span<const model::NodeId> nodes, std::span<int64_t> raw) const override {
    resources_.Look(&views_);
    for (size_t i = 0; i < nodes.size(); ++i) raw[i] = Formula::Of(views_, nodes[i].index());
  }

 private:
  const ScoredResources resources_;
  mutable std::vector<ScoredResources::View> views_;  // scratch
};

}  // namespace tutti::plugins
