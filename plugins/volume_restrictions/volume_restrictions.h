// SPDX-License-Identifier: Apache-2.0
// VolumeRestrictions: disks that only one pod of a node may use (or several, if all only read), and claims that only
// one pod of the cluster may use (ReadWriteOncePod).
#pragma once

#include "framework/plugin.h"

namespace tutti::plugins {

class VolumeRestrictions final : public framework::Filter {
 public:
  std::string_view name() const override { return "VolumeRestrictions"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override {
    return framework::Wake::kPodGone | framework::Wake::kNodeAdded | framework::Wake::kMembers;
  }
};

}  // namespace tutti::plugins
