// SPDX-License-Identifier: Apache-2.0
// VolumeBinding: the volumes of a pod's claims must be reachable from its node. A bound claim's volume must be; a claim
// that waits for its first consumer must find a volume there that is free, or a class that can make one there.
//
// It does not score: upstream's score is behind a gate that is off (StorageCapacityScoring).
#pragma once

#include "base/clock.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "framework/plugin.h"

namespace tutti::plugins {

class VolumeBinding final : public framework::Filter {
 public:
  explicit VolumeBinding(base::Millis bind_timeout_ms = 600'000) : bind_timeout_ms_(bind_timeout_ms) {}
  // VolumeBindingArgs. Errors as upstream's validation.
  static base::Result<std::shared_ptr<VolumeBinding>> Make(const base::Json& args);

  std::string_view name() const override { return "VolumeBinding"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override {
    return framework::Wake::kVolume | framework::Wake::kDriver | framework::Wake::kNodeAdded |
           framework::Wake::kNodeLabels | framework::Wake::kMembers;
  }
  bool JudgesBoundVolumes() const override { return true; }
  // How long the volumes of a placed pod may take to be bound.
  base::Millis bind_timeout_ms() const { return bind_timeout_ms_; }

 private:
  const base::Millis bind_timeout_ms_;
};

}  // namespace tutti::plugins
