// SPDX-License-Identifier: Apache-2.0
// NodeName: a pod that names its node runs there or nowhere. Such a pod is bound already and never waits, so this has a
// say only where one is asked about in `tutti evaluate`.
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
