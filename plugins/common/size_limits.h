// SPDX-License-Identifier: Apache-2.0
// How much of a pod's spec is looked at. What a filter compares it compares on every node, and an object may be 1.5 MiB
// large: at kMostThings in each part of the spec a cycle stays under 10 ms at 5,000 nodes (`make bench-limits`).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/pod_spec.h"

namespace tutti::plugins {

// Labels, terms, resources, ... in one part of a spec.
constexpr size_t kMostThings = 256;
// Topology spread constraints, hard ones and soft ones each.
constexpr size_t kMostSpreadConstraints = 64;

// The first part of the spec that is too large, as a sentence for the pod's owner; nullopt: none is.
std::optional<std::string> TooLarge(const model::PodSpec& spec);

// Not more than kMostThings. Pods that run may have more, for every user that may make a pod may name its node: what
// they say about others, or hold, is then not looked at either.
bool IsLookedAt(const model::PodAffinity& affinity);
bool IsLookedAt(const std::vector<model::PodVolume>& volumes);

}  // namespace tutti::plugins
