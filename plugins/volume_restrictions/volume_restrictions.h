// SPDX-License-Identifier: Apache-2.0
// VolumeRestrictions: lets only one pod of a node use certain disks (several if all only read), and only one pod of the
// cluster use a ReadWriteOncePod claim.
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
