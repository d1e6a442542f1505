// SPDX-License-Identifier: Apache-2.0
// ImageLocality: prefers nodes that already hold the pod's images. An image counts with its size times the share of
// nodes that hold it, so that a rare image does not draw every pod to one node. The sum is scaled between 23 MiB and
// 1000 MiB per container.
#pragma once

#include "framework/plugin.h"

namespace tutti::plugins {

class ImageLocality final : public framework::Score {
 public:
  std::string_view name() const override { return "ImageLocality"; }
  std::unique_ptr<framework::ScoreState> PrepareScore(const cluster::PodClass&,
                                                      const cluster::Snapshot&) const override;
};

}  // namespace tutti::plugins
