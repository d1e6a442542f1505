// SPDX-License-Identifier: Apache-2.0
// What KubeRay's labels say about a pod. They are there whatever scheduler the operator was told to use.
#pragma once

#include <string>

#include "dialects/dialect.h"
#include "model/pod.h"

namespace tutti::dialects {

inline constexpr std::string_view kRayClusterLabel = "ray.io/cluster";
inline constexpr std::string_view kRayGroupLabel = "ray.io/group";
inline constexpr std::string_view kRayNodeTypeLabel = "ray.io/node-type";
inline constexpr std::string_view kRayHeadGroup = "headgroup";  // the label's value on heads

struct RayPod {
  const std::string* cluster = nullptr;  // never null in a Ray node
  const std::string* group = nullptr;
  bool head = false, worker = false;  // neither: a pod beside the cluster, such as the one that cleans up its Redis

  bool node() const { return cluster && (head || worker); }
};

// The result points into `pod`.
RayPod ReadRayPod(const model::Pod& pod);

// A head is a head in every dialect. The role is the Ray group unless the dialect has set one.
void SetRayRole(const RayPod& ray, Membership* membership);

}  // namespace tutti::dialects
