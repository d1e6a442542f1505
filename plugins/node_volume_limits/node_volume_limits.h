// SPDX-License-Identifier: Apache-2.0
// NodeVolumeLimits: refuses a node that would have more volumes of a CSI driver than its CSINode allows. A volume of
// several pods counts once. Volumes that are attached without a pod count too.
#pragma once

#include "framework/plugin.h"

namespace tutti::plugins {

class NodeVolumeLimits final : public framework::Filter {
 public:
  std::string_view name() const override { return "NodeVolumeLimits"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override {
    return framework::Wake::kDriver | framework::Wake::kPodGone | framework::Wake::kMembers;
  }
};

}  // namespace tutti::plugins
