// SPDX-License-Identifier: Apache-2.0
// NodeUnschedulable: refuses cordoned nodes, unless the pod tolerates the taint of a cordon.
#pragma once

#include "framework/plugin.h"

namespace tutti::plugins {

class NodeUnschedulable final : public framework::Filter {
 public:
  std::string_view name() const override { return "NodeUnschedulable"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override { return framework::Wake::kNodeAdded | framework::Wake::kNodeTaints; }
};

}  // namespace tutti::plugins
