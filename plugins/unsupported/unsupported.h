// SPDX-License-Identifier: Apache-2.0
// Unsupported: refuses pods with requests that no plugin here can check yet, so that none is bound wrongly. Also
// refuses pods that would slow down the whole cycle (plugins/common/size_limits.h). It is the first filter of every
// profile and cannot be disabled.
#pragma once

#include "framework/plugin.h"

namespace tutti::plugins {

class Unsupported final : public framework::Filter {
 public:
  std::string_view name() const override { return "Unsupported"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override { return framework::Wake::kMembers; }
};

}  // namespace tutti::plugins
