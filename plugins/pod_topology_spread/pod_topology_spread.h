// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread: keeps the numbers of matching pods in the domains of a topology from growing apart, strictly
// (DoNotSchedule) or by preference (ScheduleAnyway).
//
// Default constraints (System and List) apply to the pods of Services and ReplicaSets; those are not watched, so the
// defaults do not apply yet.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "framework/plugin.h"

namespace tutti::plugins {

class PodTopologySpread final : public framework::Filter, public framework::Score {
 public:
  // `args`: a PodTopologySpreadArgs, or null. Error kInvalid names the field.
  static base::Result<std::shared_ptr<PodTopologySpread>> Make(const nlohmann::json& args);

  std::string_view name() const override { return "PodTopologySpread"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&, const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override {
    return framework::Wake::kNodeAdded | framework::Wake::kNodeLabels | framework::Wake::kNodeTaints |
           framework::Wake::kPodGone | framework::Wake::kPodPlaced;
  }
  std::unique_ptr<framework::ScoreState> PrepareScore(const cluster::PodClass&, const cluster::Snapshot&) const override;
  framework::Normalize normalize() const override { return framework::Normalize::kSpread; }
};

}  // namespace tutti::plugins
