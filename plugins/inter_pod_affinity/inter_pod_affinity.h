// SPDX-License-Identifier: Apache-2.0
// InterPodAffinity: allows and prefers nodes by the pods in the same domains, with the pod's own terms and those of
// running pods.
#pragma once

#include "base/json_fwd.h"
#include "base/result.h"
#include "framework/plugin.h"

namespace tutti::plugins {

class InterPodAffinity final : public framework::Filter, public framework::Score {
 public:
  // `args`: an InterPodAffinityArgs, or null. Error kInvalid names the field.
  static base::Result<std::shared_ptr<InterPodAffinity>> Make(const base::Json& args);

  std::string_view name() const override { return "InterPodAffinity"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override {
    return framework::Wake::kNodeAdded | framework::Wake::kNodeLabels | framework::Wake::kPodGone |
           framework::Wake::kPodPlaced;
  }
  std::unique_ptr<framework::ScoreState> PrepareScore(const cluster::PodClass&,
                                                      const cluster::Snapshot&) const override;
  framework::Normalize normalize() const override { return framework::Normalize::kMinMax; }

 private:
  int64_t hard_weight_ = 1;  // weight of a running pod's required affinity for this pod in its score
  bool ignore_preferred_of_others_ = false;
};

}  // namespace tutti::plugins
