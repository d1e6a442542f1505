// SPDX-License-Identifier: Apache-2.0
#include "dialects/plain.h"

#include "dialects/ray_pod.h"

namespace tutti::dialects {

std::optional<Membership> Plain::MembershipOf(const model::Pod& pod) const {
  Membership membership;
  membership.gang = {std::string(name()), pod.meta.ns, pod.meta.name};
  membership.lone = true;
  SetRayRole(ReadRayPod(pod), &membership);
  return membership;
}

model::GangSpec Plain::Describe(const model::GangKey& key) const {
  model::GangSpec spec;
  spec.key = key;
  return spec;
}

}  // namespace tutti::dialects
