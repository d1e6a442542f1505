// SPDX-License-Identifier: Apache-2.0
// NodeName: refuses all nodes but the one that the pod names. Such a pod is bound and never waits, so this filter only
// matters in `tutti evaluate`.
#pragma once

#include "framework/plugin.h"

namespace tutti::plugins {

class NodeName final : public framework::Filter {
 public:
  std::string_view name() const override { return "NodeName"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override { return framework::Wake::kNodeAdded; }
};

}  // namespace tutti::plugins
