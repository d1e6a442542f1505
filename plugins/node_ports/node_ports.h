// SPDX-License-Identifier: Apache-2.0
// NodePorts: keeps two pods with the same host port, protocol and address on different nodes; 0.0.0.0 stands for every
// address.
#pragma once

#include "framework/plugin.h"

namespace tutti::plugins {

class NodePorts final : public framework::Filter {
 public:
  std::string_view name() const override { return "NodePorts"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override { return framework::Wake::kNodeAdded | framework::Wake::kPodGone; }
};

}  // namespace tutti::plugins
