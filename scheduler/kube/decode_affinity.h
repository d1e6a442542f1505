// SPDX-License-Identifier: Apache-2.0
// The selectors in a PodSpec, from protobuf.
#pragma once

#include <string_view>

#include "model/pod_spec.h"

namespace tutti::kube {

// Sets the affinity fields of `spec` from core/v1 Affinity.
void DecodeAffinity(std::string_view affinity, model::PodSpec* spec);
model::LabelSelector DecodeSelector(std::string_view selector);
model::TopologySpread DecodeSpread(std::string_view constraint);

}  // namespace tutti::kube
