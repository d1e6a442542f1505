// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tutti::core {

using model::TopologyRequest;

bool FreeOfTopology(const Gang& gang) {
  return gang.spec.topology.empty() &&
         std::ranges::all_of(gang.spec.roles, [](const model::RoleSpec& role) { return role.topology.empty(); }) &&
         std::ranges::all_of(gang.members, [](const Member* member) { return !member->topology; });
}

std::string TopologyProblem(const Gang& gang) {
  if (!gang.spec.topology.problem.empty()) return gang.spec.topology.problem;
  for (const Member* member : gang.members)
    if (member->topology && !member->topology->problem.empty()) return member->topology->problem;
  return {};
}

std::string TopologyText(const Gang& gang) {
  std::string text;
  const auto add = [&](std::string_view of, const TopologyRequest& r) {
    if (!r.empty())
      text += fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{};", of, r.required, fmt::join(r.alternatives, ","),
                          fmt::join(r.preferred, ","), r.slice_level, r.slice_size, r.balanced, r.subset, r.each_role);
    for (const TopologyRequest::Layer& layer : r.inner_slices) text += fmt::format("{}\n{};", layer.level, layer.size);
  };
  add("", gang.spec.topology);
  for (const model::RoleSpec& role : gang.spec.roles) add(role.name, role.topology);
  const TopologyRequest* last = nullptr;
  for (const Member* member : gang.members)
    if (member->topology && (!last || *last != *member->topology)) {
      last = member->topology.get();
      add(member->role, *last);
    }
  return text;
}

}  // namespace tutti::core
