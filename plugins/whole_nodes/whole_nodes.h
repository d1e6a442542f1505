// SPDX-License-Identifier: Apache-2.0
// WholeNodes: the packing objective for pods that ask for extended resources, such as GPUs. Nodes that have all of
// theirs free are kept whole for those who need them whole; of the others the one is best that is left with least.
//
// Ours, not upstream's. It has no say about pods that ask for none.
#pragma once

#include "framework/plugin.h"

namespace tutti::plugins {

class WholeNodes final : public framework::Score {
 public:
  // Outweighs all that a stock profile's scores can differ by, so that these decide between equals.
  static constexpr int64_t kWeight = 2'000;

  std::string_view name() const override { return "WholeNodes"; }
  std::unique_ptr<framework::ScoreState> PrepareScore(const cluster::PodClass&,
                                                      const cluster::Snapshot&) const override;
};

}  // namespace tutti::plugins
