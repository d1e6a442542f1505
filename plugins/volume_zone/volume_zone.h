// SPDX-License-Identifier: Apache-2.0
// VolumeZone: refuses nodes whose zone and region labels do not match a bound volume's. Nodes without these labels
// pass.
#pragma once

#include "framework/plugin.h"

namespace tutti::plugins {

class VolumeZone final : public framework::Filter {
 public:
  std::string_view name() const override { return "VolumeZone"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override {
    return framework::Wake::kVolume | framework::Wake::kNodeAdded | framework::Wake::kNodeLabels |
           framework::Wake::kMembers;
  }
};

}  // namespace tutti::plugins
