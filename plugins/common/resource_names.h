// SPDX-License-Identifier: Apache-2.0
// The kinds of resource names that kube-scheduler tells apart (pkg/apis/core/v1/helper).
#pragma once

#include <string_view>

namespace tutti::plugins {

// Tells whether the name is an extended resource: with a slash, outside *kubernetes.io/, and not a quota name:
// "nvidia.com/gpu".
bool IsExtendedResource(std::string_view name);
// Tells whether nodes count the resource besides cpu, memory, ephemeral-storage and pods: extended resources,
// hugepages-*, *kubernetes.io/ names and attachable-volumes-*. Other names are not counted at all.
bool IsScalarResource(std::string_view name);

}  // namespace tutti::plugins
