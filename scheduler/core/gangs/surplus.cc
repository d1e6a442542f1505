// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/surplus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/gangs/topology.h"
#include "model/quantity.h"

namespace tutti::core {

std::vector<GrowthUnit> SurplusOf(const Gang& gang, const Census& census, const cluster::ClusterState& state) {
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
  std::vector<GrowthUnit> parts;
  for (const auto& [place, members] : alike) {
    const Member& first = *members.front();
    const auto& [in_unit, name] = place;
    const int64_t size = std::max<int64_t>(in_unit ? UnitsOf(gang, first)->size : size_of[name], 1);
    // Of a role it is not known which member is in which unit: one unit may be there in part.
    const int64_t missing = in_unit && have[place] >= size ? 0 : (size - have[place] % size) % size;
    const auto count = static_cast<int64_t>(members.size());
    for (int64_t at = 0, end = 0, turn = 0; at < count; at = end) {
      GrowthUnit& part = parts.emplace_back();
      part.completes = at < missing;
      const bool beyond = in_unit && have[place] + at >= size;
      part.size = part.completes || beyond ? 1 : size;
      end = std::min(count, at + part.size);
      part.members.assign(members.begin() + at, members.begin() + end);
      part.head = std::ranges::any_of(part.members, &Member::head);
      part.priority = std::ranges::max(part.members, {}, &Member::priority)->priority;
      part.created_ms = state.pod(part.members.front()->pod).pod->meta.created_ms;
      part.turn = turn++;
    }
  }
  std::ranges::stable_sort(parts, {}, [](const GrowthUnit& part) {
    return std::tuple(!part.head, !part.completes, -int64_t{part.priority}, part.created_ms, part.turn);
  });
  return parts;
}

Lack::Lack(const Requirement& requirement, const Census& census) {
  rest_and_owed_ = requirement.min - requirement.have;
  for (const Requirement::Role& role : requirement.roles)
    if (role.have < role.min) roles_[role.name] = role.min - role.have;
  for (const Requirement::Units& units : requirement.units)
    if (units.whole < units.min) units_[units.spec] = {units.size, units.min - units.whole, 0, {}};
  const auto units_of = [this](const Member& member) {
    return member.unit ? units_.find(member.unit->spec) : units_.end();
  };
  if (units_.empty()) return;
  for (const Member* member : requirement.must)
    if (const auto units = units_of(*member); units != units_.end()) ++units->second.members;
  for (const Members* there : {&census.placed, &census.reserved, &census.ran})
    for (const Member* member : *there)
      if (const auto units = units_of(*member); units != units_.end()) ++units->second.have[member->unit->name];
}

int64_t Lack::Owed() const {
  int64_t of_roles = 0, of_units = 0;
  for (const auto& [name, lack] : roles_) of_roles = model::SaturatingAdd(of_roles, lack);
  for (const auto& [spec, units] : units_) of_units = model::SaturatingAdd(of_units, units.members);
  return std::max(of_roles, of_units);
}

bool Lack::OfRole(const GrowthUnit& part) const {
  return std::ranges::any_of(part.members, [this](const Member* member) {
    if (roles_.contains(member->role)) return true;
    const auto units = member->unit ? units_.find(member->unit->spec) : units_.end();
    if (units == units_.end()) return false;
    const auto have = units->second.have.find(member->unit->name);
    return have == units->second.have.end() || have->second < units->second.size;
  });
}

void Lack::Place(const GrowthUnit& part) {
  for (const Member* member : part.members) {
    --rest_and_owed_;
    if (const auto role = roles_.find(member->role); role != roles_.end() && --role->second == 0) roles_.erase(role);
    const auto units = member->unit ? units_.find(member->unit->spec) : units_.end();
    if (units == units_.end()) continue;
    units->second.members = std::max<int64_t>(0, units->second.members - 1);
    if (++units->second.have[member->unit->name] == units->second.size && --units->second.lack == 0)
      units_.erase(units);
  }
}

std::string GrowthFingerprint(const GrowthUnit& part, bool topology, const cluster::ClusterState& state) {
  if (part.lacks() > 0) return fmt::format("{} lacks {}", part.members.front()->id.value, part.lacks());
  std::vector<std::string> kinds;
  const bool roles = topology || std::ranges::adjacent_find(part.members, std::ranges::not_equal_to(), &Member::role) !=
                                     part.members.end();
  for (const Member* member : part.members) {
    std::string& kind = kinds.emplace_back(fmt::format("{}", state.pod(member->pod).pod_class->id.value));
    if (member->refused)
      for (const auto& [node, until_ms] : member->refused->nodes) kind.append(1, '!').append(node);
    if (member->opinion) kind += fmt::format("?{}", member->id.value);  // an extender's answer is of one pod
    if (roles) kind.append(1, '@').append(member->role);
    if (topology && member->topology) kind.append(1, '@').append(member->topology->subset);
  }
  std::ranges::sort(kinds);
  return fmt::format("{}", fmt::join(kinds, "|"));
}

std::string PlacementFingerprint(model::GangId id, const Gang& gang, const cluster::ClusterState& state) {
  if (FreeOfTopology(gang)) return {};
  std::string text = TopologyText(gang);
  for (const Member* member : gang.members)
    if (const cluster::PodEntry& pod = state.pod(member->pod); pod.node && !pod.pod->meta.deleting())
      fmt::format_to(std::back_inserter(text), "|{}:{}", member->pod.value, pod.node.value);
  return fmt::format("#{}+{:x}", id.value, std::hash<std::string>()(text));
}

}  // namespace tutti::core
