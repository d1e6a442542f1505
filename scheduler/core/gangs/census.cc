// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/census.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/planted.h"
#include "core/gangs/ended.h"
#include "core/gangs/evidence.h"
#include "model/quantity.h"

namespace tutti::core {
namespace {

std::string_view ControllerOf(const model::Pod& pod) {
  const model::OwnerReference* controller = pod.meta.Controller();
  return controller ? std::string_view(controller->uid) : std::string_view();
}

// The pod was bound for the gang that is declared now, not for an earlier one of its name.
//
// No member is bound before its gang is declared. So a pod that was bound before the declaring object was made is of
// an earlier gang. The time of the bind decides, not that of the pod: pods may be made before their PodGroup.
// Where no object declares the gang, there is no such time. Then a pod without a controller counts, for no controller
// makes it a second time, and one with a controller that is not at work is taken for an earlier Job's.
bool IsOfThisGang(const Gang& gang, const model::Pod& pod) {
  if (gang.spec.uid.empty()) return ControllerOf(pod).empty();
  const base::Millis bound_ms = pod.bound_ms != 0 ? pod.bound_ms : pod.meta.created_ms;
  return bound_ms >= gang.spec.created_ms;
}

// Plans by which members were bound that have not ended.
std::set<std::string> PlansAtWork(const Gang& gang, const cluster::ClusterState& state) {
  std::set<std::string> plans;
  for (const Member* member : gang.members)
    if (const model::Pod& pod = *state.pod(member->pod).pod; pod.occupies())
      if (std::optional<Evidence> evidence = ReadEvidence(pod)) plans.insert(std::move(evidence->plan));
  return plans;
}

// A member that was bound and has succeeded counts as before, whatever controls it: its work is done, and the others
// could never start without it. Those of an earlier gang of the same name do not count. If its controller has other
// members at work, or if such were bound by the same plan, it is of this gang for sure.
void FindRan(const Gang& gang, const cluster::ClusterState& state, Census& census) {
  std::set<std::string_view> busy;
  for (const Member* member : gang.members)
    if (const model::Pod& pod = *state.pod(member->pod).pod; !pod.done()) busy.insert(ControllerOf(pod));
  busy.erase(std::string_view());
  std::optional<std::set<std::string>> plans;  // read only if something else does not decide
  const auto of_plan_at_work = [&](const model::Pod& pod) {
    const std::optional<Evidence> evidence = ReadEvidence(pod);
    if (!evidence) return false;
    if (!plans) plans = PlansAtWork(gang, state);
    return plans->contains(evidence->plan);
  };
  for (Member* member : gang.members) {
    const model::Pod& pod = *state.pod(member->pod).pod;
    if (pod.phase != model::PodPhase::kSucceeded || !pod.bound()) continue;
    if (IsOfThisGang(gang, pod) || busy.contains(ControllerOf(pod)) || of_plan_at_work(pod))
      census.ran.push_back(member);
  }
  if (!MayBeFollowed(gang)) return;
  std::map<std::string, int64_t> count;
  for (const Member* member : census.ran) ++count[member->role];
  for (auto& [role, members] : count) members = CountEnded(gang, role, members);
  const auto followed =
      std::ranges::stable_partition(census.ran, [&](const Member* member) { return count[member->role]-- > 0; });
  census.ran.erase(followed.begin(), followed.end());
}

struct UnitCount {
  int64_t have = 0;
  Members pending;
  size_t first_pending = 0;  // place of the first of them among all that wait
  int64_t exist() const { return have + static_cast<int64_t>(pending.size()); }
};

bool AllSayTheirUnit(const Gang& gang, std::string_view role) {
  return std::ranges::all_of(gang.members, [&](const Member* member) { return member->unit || member->role != role; });
}

// Which units are to be whole: those that are, then of those that can be the ones that have most, then those of highest
// priority, then the oldest. If units ask for the same, as those of one template do, no other choice does better.
void RequireUnits(const Gang& gang, const Census& census, Requirement* requirement) {
  std::vector<std::map<std::string_view, UnitCount>> counts(gang.spec.units.size());
  const auto count = [&](const Members& members, auto add) {
    for (Member* member : members)
      if (member->unit && member->unit->spec < counts.size())
        add(counts[member->unit->spec][member->unit->name], member);
  };
  for (const Members* there : {&census.placed, &census.reserved, &census.later, &census.ran})
    count(*there, [](UnitCount& unit, Member*) { ++unit.have; });
  size_t place = 0;
  for (Member* member : census.pending) {
    ++place;
    count({member}, [place](UnitCount& unit, Member* of) {
      if (unit.pending.empty()) unit.first_pending = place;
      unit.pending.push_back(of);
    });
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    const model::UnitSpec& spec = gang.spec.units[i];
    if (spec.min == 0) continue;
    if (!spec.role.empty() && (counts[i].empty() || !AllSayTheirUnit(gang, spec.role))) continue;
    Requirement::Units units{spec.name, i, spec.size, spec.min};
    std::vector<UnitCount*> open;
    for (auto& [name, unit] : counts[i]) {
      units.whole += unit.have >= spec.size;
      units.exist += unit.exist() >= spec.size;
      if (unit.have < spec.size && unit.exist() >= spec.size) open.push_back(&unit);
    }
    std::ranges::sort(open, [](const UnitCount* a, const UnitCount* b) {
      return std::tuple(-a->have, a->first_pending) < std::tuple(-b->have, b->first_pending);
    });
    for (size_t next = 0; next < open.size() && units.whole + static_cast<int64_t>(next) < spec.min; ++next)
      requirement->must.insert(requirement->must.end(), open[next]->pending.begin(),
                               open[next]->pending.begin() + (spec.size - open[next]->have));
    requirement->units.push_back(std::move(units));
  }
}

}  // namespace

Census TakeCensus(const Gang& gang, const cluster::ClusterState& state) {
  Census census;
  for (Member* member : gang.members) {
    const model::Pod& pod = *state.pod(member->pod).pod;
    if (pod.preempting && !pod.bound() && !pod.done() && !pod.meta.deleting()) census.recorder = member;
    const Assignment* open = nullptr;
    if (gang.plan)
      if (const auto at = gang.plan->open.find(member->id); at != gang.plan->open.end()) open = &at->second;
    if (pod.phase == model::PodPhase::kSucceeded)
      ++census.succeeded;
    else if (pod.phase == model::PodPhase::kFailed)
      ++census.failed;
    else if (pod.meta.deleting())
      ++census.deleting;
    else if (pod.bound())
      (state.NodeExists(pod.node_name) ? census.placed : census.lost).push_back(member);
    else if (open && open->stage == Assignment::Stage::kBound)
      (open->room_lost ? census.lost : census.placed).push_back(member);
    else if (open)
      (member->late ? census.later : census.reserved).push_back(member);
    else if (member->held_back || !pod.scheduling_gates.empty()) {
      ++census.gated;
      if (pod.scheduling_gates.empty()) census.held.push_back(member);
    } else if (!member->gone_unobserved && gang.plan && pod.meta.uid == gang.plan->commit_uid)
      census.pending.insert(census.pending.begin(), census.last = member);
    else if (!member->gone_unobserved)
      census.pending.push_back(member);
    census.running += pod.phase == model::PodPhase::kRunning && !pod.meta.deleting();
  }
  const auto others = census.pending.begin() + (census.last != nullptr);
  if (!std::ranges::is_sorted(others, census.pending.end(), std::ranges::greater(), &Member::priority))
    std::ranges::stable_sort(others, census.pending.end(), std::ranges::greater(), &Member::priority);
  if (census.succeeded > 0 && !base::Planted(base::Bug::kForgetRan)) FindRan(gang, state, census);
  return census;
}

void HoldRefusedBack(const Gang& gang, base::Millis now_ms, Census* census) {
  const Member* kept = !gang.whole && gang.plan && gang.plan->bind_left ? census->last : nullptr;
  const auto held = std::ranges::stable_partition(census->pending, [&](const Member* member) {
    return !member->refused || member->refused->again_ms <= now_ms || member == kept;
  });
  census->refused.assign(held.begin(), held.end());
  census->pending.erase(held.begin(), held.end());
}

bool IsTerminating(const Gang& gang, const Census& census, const cluster::ClusterState& state) {
  if (census.deleting == 0 || census.gated > 0 || !census.pending.empty() || !census.reserved.empty()) return false;
  return std::ranges::any_of(gang.members, [&](const Member* member) {
    const model::Pod& pod = *state.pod(member->pod).pod;
    return pod.meta.deleting() && pod.bound() && !pod.done() && !pod.undo_begun;
  });
}

bool HasEnded(const Gang& gang, const Census& census) {
  if (gang.members.empty()) return gang.spec.min_member == 0 && gang.spec.problem.empty();
  if (MayBeFollowed(gang)) return false;
  const int64_t ended = census.succeeded + census.failed;
  return ended == std::ssize(gang.members) && ended >= gang.spec.min_member;
}

bool Requirement::met() const {
  return have >= min && std::ranges::all_of(roles, [](const Role& role) { return role.have >= role.min; }) &&
         std::ranges::all_of(units, [](const Units& of) { return of.whole >= of.min; });
}

bool Requirement::reachable() const {
  return !head_missing && exist >= min &&
         std::ranges::all_of(roles, [](const Role& role) { return role.exist >= role.min; }) &&
         std::ranges::all_of(units, [](const Units& of) { return of.exist >= of.min; });
}

int64_t Requirement::lacking() const {
  auto by_role = static_cast<int64_t>(must.size());
  for (const Role& role : roles)
    by_role = model::SaturatingAdd(by_role, std::max<int64_t>(0, role.min - role.have - role.must));
  return std::max(by_role, min - have);
}

Requirement Require(const Gang& gang, const Census& census) {
  Requirement requirement;
  std::map<std::string, Requirement::Role> roles;
  for (const model::RoleSpec& role : gang.spec.roles)
    if (role.min > 0) roles[role.name].min = role.min;
  bool head = false, needs_head = false;
  for (const Member* member : gang.members) {
    head = head || member->head;
    needs_head = needs_head || member->needs_head;
    if (member->head) {
      auto& role = roles[member->role];
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
  count(census.later, true);
  count(census.ran, true);
  count(census.pending, false);
  for (auto& [name, role] : roles) {
    const int64_t gone = CountGone(gang, name, std::ranges::count(census.ran, name, &Member::role));
    for (int64_t* sum : {&role.have, &role.exist, &requirement.have, &requirement.exist}) *sum += gone;
  }
  if (!gang.spec.units.empty()) RequireUnits(gang, census, &requirement);
  // The member that bound ones name as the last is not left out for another: without it none could tell afterwards that
  // the gang was whole.
  if (census.last && gang.plan && gang.plan->bind_left && !gang.whole &&
      std::ranges::find(requirement.must, census.last) == requirement.must.end())
    requirement.must.push_back(census.last);
  for (const Member* member : requirement.must)
    if (const auto role = roles.find(member->role); role != roles.end()) ++role->second.must;
  int64_t sum = 0;
  for (auto& [name, role] : roles) {
    role.name = name;
    sum = model::SaturatingAdd(sum, role.min);
    requirement.roles.push_back(role);
  }
  int64_t in_units = 0;
  for (const Requirement::Units& units : requirement.units)
    in_units = model::SaturatingAdd(in_units, model::SaturatingMul(units.size, units.min));
  requirement.min = std::max({sum, in_units, gang.spec.min_member, int64_t{1}});
  if (!requirement.must.empty()) requirement.min = std::max(requirement.min, requirement.have + requirement.lacking());
  requirement.head_missing = needs_head && !head;
  if (gang.soft && !gang.whole) {
    requirement.roles.clear();
    requirement.units.clear();
    requirement.must.clear();
    requirement.min = 1;
    requirement.head_missing = false;
  }
  return requirement;
}

bool MinimumStands(const Gang& gang, const Census& census, const cluster::ClusterState& state) {
  const auto leaves = [&state](const Member* member) { return state.pod(member->pod).leaving; };
  return census.lost.empty() && std::ranges::none_of(census.placed, leaves) && Require(gang, census).met();
}

bool HoldsRoomAlone(const Gang& gang, const Census& census) {
  return gang.plan && !gang.whole && !gang.preemption && gang.promises == 0 && !gang.plan->bind_left &&
         !gang.plan->undoing() && census.NobodyBound();
}

void RefuseWaiting(const Census& census, Refusal why) {
  const auto shared = std::make_shared<const Refusal>(std::move(why));
  for (const Members* waiting : {&census.pending, &census.held})
    for (Member* member : *waiting)
      if (!member->promised) member->refusal = shared;
}

}  // namespace tutti::core
