// SPDX-License-Identifier: Apache-2.0
// Unsupported: refuses pods that ask for what no plugin here can check yet, so that none is bound wrongly. It is in
// every profile, before all others, and cannot be disabled.
//
// And pods that would hold up everybody else: what a filter compares it compares on every node, and an object may be
// 1.5 MiB large. At kMostThings in each part of the spec a cycle stays under 10 ms at 5,000 nodes (`make
// bench-limits`).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/plugin.h"

namespace tutti::plugins {

// Labels, terms, resources, ... in one part of a spec; of the values of one requirement, which are looked up and not
// compared one by one, so many count as one.
constexpr size_t kMostThings = 256, kValuesPerThing = 64;
// Topology spread constraints, hard ones and soft ones each.
constexpr size_t kMostSpreadConstraints = 64;

// What of `spec` is not supported, as a sentence for the pod's owner; nullopt when all of it is.
// `namespaces_known`: the labels of namespaces are, so that namespaceSelectors can be told.
std::optional<std::string> UnsupportedReason(const model::PodSpec& spec, bool namespaces_known);

// Not more than kMostThings. Pods that run may have more, for whoever may make a pod may name its node: what they say
// about others, or hold, is then not looked at either.
bool IsLookedAt(const model::PodAffinity& affinity);
bool IsLookedAt(const std::vector<model::PodVolume>& volumes);

class Unsupported final : public framework::Filter {
 public:
  std::string_view name() const override { return "Unsupported"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override;
  framework::Wake WakesOn() const override { return framework::Wake::kMembers; }
};

}  // namespace tutti::plugins
