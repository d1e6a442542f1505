// SPDX-License-Identifier: Apache-2.0
// The kinds of resource names that kube-scheduler tells apart (pkg/apis/core/v1/helper).
#pragma once

#include <string_view>

namespace tutti::plugins {

// Outside *kubernetes.io/, with a slash, and not a quota name: "nvidia.com/gpu".
bool IsExtendedResource(std::string_view name);
// What nodes count besides cpu, memory, ephemeral-storage and pods: extended resources, hugepages-*,
// *kubernetes.io/ names and attachable-volumes-*. Other names are not accounted for at all.
bool IsScalarResource(std::string_view name);

}  // namespace tutti::plugins
