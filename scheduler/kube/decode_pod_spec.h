// SPDX-License-Identifier: Apache-2.0
// core/v1 PodSpec → model::PodSpec, and the key by which equal specs are found.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/pod_spec.h"

namespace tutti::kube {

// The resources in use by a bound pod, from its status; all views point into the pod's message. It is not read for a
// pod that waits.
struct HeldResources {
  bool bound = false;
  std::vector<std::string_view> container_statuses;  // ContainerStatus messages
  std::vector<std::string_view> pod_allocated;       // entries of PodStatus.allocatedResources
  std::optional<std::string_view> pod_resources;     // PodStatus.resources
  bool infeasible_resize = false;
};

// Invariant: pods with equal keys have equal decoded specs.
void AppendSpecKey(std::string_view spec, const HeldResources& held, std::string* key);

model::PodSpec DecodePodSpec(std::string_view spec, const HeldResources& held);

}  // namespace tutti::kube
