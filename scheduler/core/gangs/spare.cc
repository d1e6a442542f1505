// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/spare.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/planted.h"

namespace tutti::core {
namespace {

bool IsNeverSpare(const Member& member) { return member.head && !base::Planted(base::Bug::kSpareHead); }

}  // namespace

Spare::Spare(const Gang& gang, const Census& census, const cluster::ClusterState& state,
             absl::FunctionRef<bool(const Member&)> loose) {
  if (!gang.whole || gang.plan || gang.lone) return;
  const Requirement requirement = Require(gang, census);
  if (!requirement.met() || requirement.have == requirement.min) return;
  all_ = requirement.have - requirement.min;
  for (const Requirement::Role& role : requirement.roles) {
    const auto name = std::ranges::find(census.placed, role.name, &Member::role);
    if (name != census.placed.end() && !((*name)->head && base::Planted(base::Bug::kSpareHead)))
      roles_[(*name)->role] = role.have - role.min;
  }
  for (const Requirement::Units& units : requirement.units) units_[units.spec + 1] = units.whole - units.min;
  FindParts(gang, census, state, loose);
}

// Members of a role that start in units, where it is not known which member is in which unit, are left out: taking some
// could break several units.
void Spare::FindParts(const Gang& gang, const Census& census, const cluster::ClusterState& state,
                      absl::FunctionRef<bool(const Member&)> loose) {
  struct Part {
    Members members;
    size_t units = 0;
    bool stays = false;
    int32_t priority = std::numeric_limits<int32_t>::min();
    base::Millis created_ms = 0;  // of the youngest
  };
  if (gang.spec.goes_whole) return;
  std::vector<Part> found;
  std::map<std::string_view, size_t> part_of;  // by unit
  for (Member* member : census.placed) {
    const model::UnitSpec* spec = UnitsOf(gang, *member);
    const auto role = std::ranges::find(gang.spec.roles, member->role, &model::RoleSpec::name);
    if (!spec && role != gang.spec.roles.end() && role->unit > 1) continue;
    size_t at = found.size();
    if (spec) at = part_of.try_emplace(member->unit->name, at).first->second;
    if (at == found.size()) found.emplace_back();
    Part& part = found[at];
    part.members.push_back(member);
    if (spec && std::ssize(part.members) >= spec->size) part.units = member->unit->spec + 1;
    part.stays = part.stays || IsNeverSpare(*member) || !loose(*member);
    part.priority = std::max(part.priority, member->priority);
    part.created_ms = std::max(part.created_ms, state.pod(member->pod).pod->meta.created_ms);
  }
  std::ranges::stable_sort(found, {}, [](const Part& part) { return std::tuple(part.priority, -part.created_ms); });
  for (Part& part : found) {
    if (part.stays) continue;
    parts_.push_back(std::move(part.members));
    units_of_.push_back(part.units);
    if (const size_t last = parts_.size() - 1; !MayGo({&last, 1})) {
      parts_.pop_back();
      units_of_.pop_back();
    }
  }
}

bool Spare::MayGo(std::span<const size_t> parts) const {
  int64_t all = all_;
  std::map<std::string_view, int64_t> roles = roles_;
  std::map<size_t, int64_t> units = units_;
  for (const size_t part : parts) {
    all -= std::ssize(parts_[part]);
    for (const Member* member : parts_[part])
      if (const auto role = roles.find(member->role); role != roles.end() && --role->second < 0) return false;
    if (const auto of = units.find(units_of_[part]); of != units.end() && --of->second < 0) return false;
  }
  return all >= 0;
}

bool Spare::TryAdd(size_t part, std::vector<size_t>* parts) const {
  parts->push_back(part);
  if (MayGo(*parts)) return true;
  parts->pop_back();
  return false;
}

}  // namespace tutti::core
