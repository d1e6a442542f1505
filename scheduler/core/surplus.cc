// SPDX-License-Identifier: Apache-2.0
#include "core/surplus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "core/topology_rules.h"

namespace tutti::core {

std::vector<Part> SurplusOf(const Gang& gang, const Census& census) {
  using Place = std::pair<bool, std::string_view>;  // in a unit, or of a role
  const auto place_of = [&](const Member& member) {
    const bool in_unit = UnitsOf(gang, member) != nullptr;
    return Place(in_unit, in_unit ? member.unit->name : member.role);
  };
  std::map<std::string_view, int64_t> size_of;
  for (const model::RoleSpec& role : gang.spec.roles) size_of[role.name] = role.unit;
  std::map<Place, int64_t> have;
  for (const Members* there : {&census.placed, &census.reserved, &census.ran, &census.lost})
    for (const Member* member : *there) ++have[place_of(*member)];
  std::map<Place, Members> alike;
  for (Member* member : census.pending) alike[place_of(*member)].push_back(member);
  std::vector<Part> parts;
  for (const auto& [place, members] : alike) {
    const Member& first = *members.front();
    const auto& [in_unit, name] = place;
    const int64_t size = std::max<int64_t>(in_unit ? UnitsOf(gang, first)->size : size_of[name], 1);
    // Of a role it is not known who is in which unit: one of them may be there in part.
    const int64_t missing = in_unit && have[place] >= size ? 0 : (size - have[place] % size) % size;
    const auto count = static_cast<int64_t>(members.size());
    for (int64_t at = 0, end = 0; at < count; at = end) {
      Part& part = parts.emplace_back();
      part.completes = at < missing;
      const bool beyond = in_unit && have[place] + at >= size;
      part.size = part.completes || beyond ? 1 : size;
      end = std::min(count, at + part.size);
      part.members.assign(members.begin() + at, members.begin() + end);
    }
  }
  std::ranges::stable_partition(parts, &Part::completes);
  return parts;
}

std::string KindOf(const Part& part, bool topology, const cluster::ClusterState& state) {
  if (part.lacks() > 0) return fmt::format("{} lacks {}", part.members.front()->pod.value, part.lacks());
  std::vector<std::string> kinds;
  for (const Member* member : part.members) {
    std::string& kind = kinds.emplace_back(fmt::format("{}", state.pod(member->pod).pod_class->id.value));
    if (member->refused)
      for (const auto& [node, until_ms] : member->refused->nodes) kind.append(1, '!').append(node);
    if (member->opinion) kind += fmt::format("?{}", member->pod.value);  // an extender's answer is of one pod
    if (topology) kind.append(1, '@').append(member->role);
    if (topology && member->topology) kind.append(1, '@').append(member->topology->subset);
  }
  std::ranges::sort(kinds);
  return fmt::format("{}", fmt::join(kinds, "|"));
}

std::string StandOf(model::GangId id, const Gang& gang, const cluster::ClusterState& state) {
  if (FreeOfTopology(gang)) return {};
  std::string text = TopologyText(gang);
  for (const Member* member : gang.members)
    if (const cluster::PodEntry& pod = state.pod(member->pod); pod.node && !pod.pod->meta.deleting())
      fmt::format_to(std::back_inserter(text), "|{}:{}", member->pod.value, pod.node.value);
  return fmt::format("#{}+{:x}", id.value, std::hash<std::string>()(text));
}

}  // namespace tutti::core
