// SPDX-License-Identifier: Apache-2.0
// VolumeBinding: refuses nodes that cannot reach the volumes of a pod's claims. A bound claim's volume must be
// reachable. A claim that waits for its first consumer needs a free volume there, or a class that can provision one
// there.
//
// It does not score: kube-scheduler's score has a feature gate that is off (StorageCapacityScoring).
#pragma once

#include "base/clock.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "framework/plugin.h"

namespace tutti::plugins {

class VolumeBinding final : public framework::Filter {
 public:
  explicit VolumeBinding(base::Millis bind_timeout_ms = 600'000) : bind_timeout_ms_(bind_timeout_ms) {}
  // Reads VolumeBindingArgs, with the errors of kube-scheduler's validation.
  static base::Result<std::shared_ptr<VolumeBinding>> Make(const base::Json& args);

  std::string_view name() const override { return "VolumeBinding"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override {
    return framework::Wake::kVolume | framework::Wake::kDriver | framework::Wake::kNodeAdded |
           framework::Wake::kNodeLabels | framework::Wake::kMembers;
  }
  bool JudgesBoundVolumes() const override { return true; }
  // Returns how long binding the volumes of a placed pod may take.
  base::Millis bind_timeout_ms() const { return bind_timeout_ms_; }

 private:
  const base::Millis bind_timeout_ms_;
};

}  // namespace tutti::plugins
