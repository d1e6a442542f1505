// SPDX-License-Identifier: Apache-2.0
#include "core/census.h"

#include <algorithm>
#include <set>

namespace tutti::core {
namespace {

std::string_view ControllerOf(const model::Pod& pod) {
  const model::OwnerReference* controller = pod.meta.Controller();
  return controller ? std::string_view(controller->uid) : std::string_view();
}

// Who was bound and has ended well counts as before, lest the rest of its Job never start. Those of an earlier Job, of
// whose gang this one has the name, do not.
void FindRan(Gang& gang, const cluster::ClusterState& state, Census& census) {
  std::set<std::string_view> busy;
  for (const Member& member : gang.members)
    if (const model::Pod& pod = *state.pod(member.pod).pod; !pod.done()) busy.insert(ControllerOf(pod));
  busy.erase(std::string_view());
  for (Member& member : gang.members)
    if (const model::Pod& pod = *state.pod(member.pod).pod;
        pod.phase == model::PodPhase::kSucceeded && pod.bound() && busy.contains(ControllerOf(pod)))
      census.ran.push_back(&member);
}

}  // namespace

Census TakeCensus(Gang& gang, const cluster::ClusterState& state) {
  Census census;
  for (Member& member : gang.members) {
    const model::Pod& pod = *state.pod(member.pod).pod;
    const Assignment* open = nullptr;
    if (gang.plan)
      if (const auto at = gang.plan->open.find(member.pod); at != gang.plan->open.end()) open = &at->second;
    if (pod.phase == model::PodPhase::kSucceeded)
      ++census.succeeded;
    else if (pod.phase == model::PodPhase::kFailed)
      ++census.failed;
    else if (pod.meta.deleting())
      ++census.deleting;
    else if (pod.bound())
      (state.NodeExists(pod.node_name) ? census.placed : census.lost).push_back(&member);
    else if (open && open->stage == Assignment::Stage::kBound)
      (open->room_lost ? census.lost : census.placed).push_back(&member);
    else if (open)
      census.reserved.push_back(&member);
    else if (!pod.scheduling_gates.empty())
      ++census.gated;
    else
      census.pending.push_back(&member);
    census.running += pod.phase == model::PodPhase::kRunning && !pod.meta.deleting();
  }
  if (census.succeeded > 0) FindRan(gang, state, census);
  return census;
}

bool Requirement::met() const {
  return have >= min && std::ranges::all_of(roles, [](const Role& role) { return role.have >= role.min; });
}

bool Requirement::reachable() const {
  return !head_missing && exist >= min &&
         std::ranges::all_of(roles, [](const Role& role) { return role.exist >= role.min; });
}

int64_t Requirement::lacking() const {
  int64_t by_role = 0;
  for (const Role& role : roles) by_role += std::max<int64_t>(0, role.min - role.have);
  return std::max(by_role, min - have);
}

Requirement Require(const Gang& gang, const Census& census) {
  Requirement requirement;
  std::map<std::string, Requirement::Role> roles;
  for (const model::RoleSpec& role : gang.spec.roles)
    if (role.min > 0) roles[role.name].min = role.min;
  bool head = false, needs_head = false;
  for (const Member& member : gang.members) {
    head = head || member.head;
    needs_head = needs_head || member.needs_head;
    if (member.head) {
      auto& role = roles[member.role];
      role.min = std::max<int64_t>(role.min, 1);
    }
  }
  const auto count = [&](const Members& members, bool placed) {
    for (const Member* member : members) {
      requirement.exist += 1;
      requirement.have += placed;
      if (const auto role = roles.find(member->role); role != roles.end()) {
        role->second.exist += 1;
        role->second.have += placed;
      }
    }
  };
  count(census.placed, true);
  count(census.reserved, true);
  count(census.ran, true);
  count(census.pending, false);
  int64_t sum = 0;
  for (auto& [name, role] : roles) {
    role.name = name;
    sum += role.min;
    requirement.roles.push_back(role);
  }
  requirement.min = std::max({sum, gang.spec.min_member, int64_t{1}});
  requirement.head_missing = needs_head && !head;
  return requirement;
}

}  // namespace tutti::core
