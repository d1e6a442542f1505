// SPDX-License-Identifier: Apache-2.0
// Unsupported: refuses pods that ask for what no plugin here can check yet, so that none is bound wrongly. It is in
// every profile, before all others, and cannot be disabled.
#pragma once

#include <optional>
#include <string>

#include "framework/plugin.h"

namespace tutti::plugins {

// What of `spec` is not supported, as a sentence for the pod's owner; nullopt when all of it is.
// `namespaces_known`: the labels of namespaces are, so that namespaceSelectors can be told.
std::optional<std::string> UnsupportedReason(const model::PodSpec& spec, bool namespaces_known);

class Unsupported final : public framework::Filter {
 public:
  std::string_view name() const override { return "Unsupported"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&, const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override { return framework::Wake::kMembers; }
};

}  // namespace tutti::plugins
