// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/draft.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "dialects/topology_annotations.h"

namespace tutti::core {

using model::GangDraft;

namespace {

GangDraft::Member MemberDraftOf(const Member& member, const model::Pod& pod) {
  return {Afresh(pod),     member.role,     member.head, member.needs_head, member.late,
          member.priority, member.topology, member.unit};
}

// Adds the members that are promised and have no pod; one of an ordered role comes after the other.
void AddPromised(const model::PromisedMembers& declared, GangDraft* draft) {
  const int64_t made = std::ranges::count(draft->members, declared.role, &GangDraft::Member::role);
  for (int64_t i = made; i < declared.count; ++i)
    draft->members.push_back({declared.pod, declared.role, declared.head, declared.needs_head,
                              declared.late || (declared.ordered && i > 0), declared.pod->spec->priority,
                              dialects::TopologyOfPod(*declared.pod, declared.role), nullptr});
}

}  // namespace

std::shared_ptr<const model::Pod> Afresh(const model::Pod& pod) {
  auto fresh = std::make_shared<model::Pod>();
  fresh->meta = pod.meta;
  fresh->spec = pod.spec;
  fresh->scheduling_group = pod.scheduling_group;
  fresh->claims = pod.claims;
  fresh->run_limit_ms = pod.run_limit_ms;
  return fresh;
}

int32_t PriorityOf(const GangDraft& draft) {
  if (draft.spec.priority) return *draft.spec.priority;
  if (draft.members.empty()) return 0;
  int32_t highest = std::numeric_limits<int32_t>::min();
  for (const GangDraft::Member& member : draft.members) highest = std::max(highest, member.pod->spec->priority);
  return highest;
}

model::GangRank RankOf(const GangDraft& draft) {
  if (draft.spec.quota) return {draft.spec.quota->ask.priority, draft.spec.quota->ask.queued_ms};
  return {PriorityOf(draft), draft.spec.created_ms, draft.spec.priority_slope};
}

GangDraft DraftOf(const Gang& gang, const cluster::ClusterState& state) {
  GangDraft draft{.key = gang.key, .spec = gang.spec, .lone = gang.lone, .members = {}};
  if (gang.quota) draft.spec = gang.quota->declared;
  for (const Member* member : gang.members) {
    const model::Pod& pod = *state.pod(member->pod).pod;
    if (!member->promised && !pod.done() && !pod.meta.deleting()) draft.members.push_back(MemberDraftOf(*member, pod));
  }
  for (const model::PromisedMembers& declared : std::exchange(draft.spec.promised, {})) AddPromised(declared, &draft);
  return draft;
}

}  // namespace tutti::core
