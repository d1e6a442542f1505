// SPDX-License-Identifier: Apache-2.0
#include "dialects/ray_pod.h"

namespace tutti::dialects {

RayPod ReadRayPod(const model::Pod& pod) {
  RayPod ray;
  ray.cluster = model::Find(pod.meta.labels, kRayClusterLabel);
  if (!ray.cluster || ray.cluster->empty()) return {};
  ray.group = model::Find(pod.meta.labels, kRayGroupLabel);
  if (const std::string* type = model::Find(pod.meta.labels, kRayNodeTypeLabel)) {
    ray.head = *type == "head";
    ray.worker = *type == "worker";
  }
  return ray;
}

void SetRayRole(const RayPod& ray, Membership* membership) {
  if (!ray.node()) return;
  if (membership->role.empty())
    membership->role = ray.head ? kRayHeadGroup : ray.group ? std::string_view(*ray.group) : std::string_view();
  membership->head = ray.head;
}

}  // namespace tutti::dialects
