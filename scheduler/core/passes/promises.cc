// SPDX-License-Identifier: Apache-2.0
#include "core/passes/promises.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include "core/gangs/ended.h"
#include "core/gangs/fit.h"

namespace tutti::core {

using model::GangId;

namespace {

using ByRole = std::map<std::string_view, std::vector<Member*>>;

struct Lacking {
  const model::PromisedMembers* declared;
  int64_t count;
  bool has_first;  // the role has a member already, or the promise of one
};

// Those with a place first; of these, and of the others, in the order in which they were made.
ByRole PromisesOf(const Gang& gang, const cluster::ClusterState& state) {
  ByRole promises;
  for (Member* member : gang.members)
    if (member->promised) promises[member->role].push_back(member);
  for (auto& [role, members] : promises)
    std::ranges::stable_partition(members, [&](const Member* member) { return state.pod(member->pod).node.valid(); });
  return promises;
}

// Takes those out that were made of another pod: the nodes of one flavor were kept for the gang, say, and now it is to
// have those of another one, or an edit asks for more.
std::vector<Member*> TakeOutdated(const model::PromisedMembers& declared, const cluster::ClusterState& state,
                                  std::vector<Member*>* promises) {
  const model::PodSpec* same = declared.pod->spec.get();  // most have one spec together
  const auto is_current = [&](const Member* member) {
    const model::PodSpec* spec = state.pod(member->pod).pod->spec.get();
    if (spec != same && *spec != *declared.pod->spec) return false;
    same = spec;
    return true;
  };
  const auto outdated = std::ranges::stable_partition(*promises, is_current);
  std::vector<Member*> taken(outdated.begin(), outdated.end());
  promises->erase(outdated.begin(), outdated.end());
  return taken;
}

}  // namespace

void Promises::Follow(GangId id) {
  EndKept(id);
  if (book_.at(id).spec.promised.empty() && book_.at(id).promises == 0) return;
  AdoptAll(id);
  Gang& gang = book_.at(id);
  ByRole promises = PromisesOf(gang, state_);
  std::vector<Member*> dropped;
  std::vector<Lacking> lacking;
  const bool takes_places = !auto_fits_.IsAdmittedUnplaced(gang, state_.snapshot());
  for (const model::PromisedMembers& declared : gang.spec.promised) {
    if (!takes_places) break;
    std::vector<Member*>& there = promises[declared.role];
    std::ranges::copy(TakeOutdated(declared, state_, &there), std::back_inserter(dropped));
    const int64_t wanted = Wanted(gang, declared);
    for (; std::ssize(there) > wanted; there.pop_back()) dropped.push_back(there.back());
    lacking.push_back({&declared, wanted - std::ssize(there), wanted < declared.count || !there.empty()});
    there.clear();
  }
  for (const auto& [role, members] : promises) dropped.insert(dropped.end(), members.begin(), members.end());
  for (const auto& [declared, count, has_first] : lacking)
    for (int64_t i = 0; i < count; ++i) {
      model::PromisedMembers as = *declared;
      as.late = as.late || (as.ordered && (has_first || i > 0));
      enrollment_.AddPromise(id, as);
    }
  for (Member* member : dropped) enrollment_.DropPromise(*member);
  state_.Reclassify();  // what their terms select of other pods counts before they are placed
  // A promise was all that was left of a whole gang, which is to start again.
  if (!dropped.empty() && gang.members.empty()) Follow(id);
}

void Promises::EndKept(GangId id) {
  const Gang& gang = book_.at(id);
  if (!gang.quota || gang.quota->expected || !gang.quota->resizes()) return;
  for (const Member* member : gang.members)
    if (!member->promised && !state_.nominations().NodeOf(member->pod).empty()) state_.KeepNode(member->pod, {});
}

int64_t Promises::Wanted(const Gang& gang, const model::PromisedMembers& declared) const {
  const bool stays_promised = declared.late || declared.ordered || (gang.quota && gang.quota->resizes());
  if (gang.whole && !stays_promised) return 0;
  int64_t made = 0, succeeded = 0;
  for (const Member* member : gang.members) {
    if (member->promised || member->role != declared.role) continue;
    const model::Pod& pod = *state_.pod(member->pod).pod;
    succeeded += pod.phase == model::PodPhase::kSucceeded;
    // Gates are taken away once the gang is admitted, and it is admitted with places for all.
    if (gang.spec.quota && !pod.bound() && (member->held_back || !pod.scheduling_gates.empty())) continue;
    made += pod.phase != model::PodPhase::kSucceeded && pod.phase != model::PodPhase::kFailed && !pod.meta.deleting();
  }
  made += CountEnded(gang, declared.role, succeeded) + CountGone(gang, declared.role, succeeded);
  return std::max<int64_t>(0, declared.count - made);
}

void Promises::AdoptAll(GangId id) {
  Gang& gang = book_.at(id);
  if (gang.promises == 0) return;
  ByRole promises = PromisesOf(gang, state_);
  std::vector<std::pair<Member*, Member*>> pairs;
  std::map<std::string_view, size_t> taken;
  for (Member* member : gang.members) {
    if (member->promised) continue;
    const cluster::PodEntry& entry = state_.pod(member->pod);
    const bool waits = !entry.pod->bound() && !entry.pod->done() && !entry.pod->meta.deleting() && !member->held_back &&
                       entry.pod->scheduling_gates.empty() && !entry.reserved;
    const auto of_role = promises.find(member->role);
    const bool has_own = gang.quota && gang.quota->expected && !state_.nominations().NodeOf(member->pod).empty();
    if (!waits || has_own || of_role == promises.end()) continue;
    if (size_t& next = taken[of_role->first]; next < of_role->second.size())
      pairs.emplace_back(of_role->second[next++], member);
  }
  for (const auto& [promise, member] : pairs) Adopt(id, *promise, *member);
}

void Promises::Adopt(GangId id, Member& promise, Member& pod) {
  Gang& gang = book_.at(id);
  const cluster::PodEntry& held = state_.pod(promise.pod);
  if (held.reserved && held.pod_class == state_.pod(pod.pod).pod_class) {
    committer_.HandOver(id, promise, pod);
  } else if (held.reserved) {
    const model::NodeId node = held.node;
    committer_.plans().Release(gang, promise);
    if (const auto placement = planner_.PlaceOn(pod, node)) committer_.Reserve(id, {*placement});
  } else if (const std::string kept = state_.nominations().NodeOf(promise.pod); !kept.empty()) {
    state_.KeepNode(pod.pod, kept);
  }
  enrollment_.DropPromise(promise);
}

}  // namespace tutti::core
