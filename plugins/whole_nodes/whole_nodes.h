// SPDX-License-Identifier: Apache-2.0
// WholeNodes: the packing objective for pods that ask for extended resources, such as GPUs. It keeps wholly free nodes
// for pods that need whole nodes. Of the other nodes, the one that has least left is best.
//
// It is Tutti's own, not kube-scheduler's. It does not score pods without extended resources.
#pragma once

#include "framework/plugin.h"

namespace tutti::plugins {

class WholeNodes final : public framework::Score {
 public:
  // More than the scores of a stock profile can differ by, so that those only decide between equals.
  static constexpr int64_t kWeight = 2'000;

  std::string_view name() const override { return "WholeNodes"; }
  std::unique_ptr<framework::ScoreState> PrepareScore(const cluster::PodClass&,
                                                      const cluster::Snapshot&) const override;
};

}  // namespace tutti::plugins
