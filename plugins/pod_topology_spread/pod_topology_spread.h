// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread: spreads matching pods evenly over the domains of a topology, strictly (DoNotSchedule) or by
// preference (ScheduleAnyway). Pods without constraints that a Service selects, or that a ReplicationController,
// ReplicaSet or StatefulSet owns, get the default constraints: kube-scheduler's (defaultingType System) or those of the
// args (List).
#pragma once

#include "base/json_fwd.h"
#include "base/result.h"
#include "framework/plugin.h"

namespace tutti::plugins {

class PodTopologySpread final : public framework::Filter, public framework::Score {
 public:
  // `args`: a PodTopologySpreadArgs, or null. Error kInvalid names the field.
  static base::Result<std::shared_ptr<PodTopologySpread>> Make(const base::Json& args);

  std::string_view name() const override { return "PodTopologySpread"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override {
    return framework::Wake::kNodeAdded | framework::Wake::kNodeLabels | framework::Wake::kNodeTaints |
           framework::Wake::kPodGone | framework::Wake::kPodPlaced | framework::Wake::kSelection;
  }
  std::unique_ptr<framework::ScoreState> PrepareScore(const cluster::PodClass&,
                                                      const cluster::Snapshot&) const override;
  framework::Normalize normalize() const override { return framework::Normalize::kSpread; }
  bool ReadsSelections() const override { return !defaults_.empty(); }

 private:
  std::vector<model::TopologySpread> ConstraintsOf(const cluster::PodClass& pod_class) const;

  std::vector<model::TopologySpread> defaults_;  // without selectors
  bool system_defaults_ = false;
};

}  // namespace tutti::plugins
