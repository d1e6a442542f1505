// SPDX-License-Identifier: Apache-2.0
// TaintToleration: refuses nodes with a NoSchedule or NoExecute taint that the pod does not tolerate, and prefers those
// with fewer untolerated PreferNoSchedule taints.
#pragma once

#include "framework/plugin.h"

namespace tutti::plugins {

class TaintToleration final : public framework::Filter, public framework::Score {
 public:
  std::string_view name() const override { return "TaintToleration"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override { return framework::Wake::kNodeAdded | framework::Wake::kNodeTaints; }
  std::unique_ptr<framework::ScoreState> PrepareScore(const cluster::PodClass&,
                                                      const cluster::Snapshot&) const override;
  framework::Normalize normalize() const override { return framework::Normalize::kMaxReversed; }
};

}  // namespace tutti::plugins
