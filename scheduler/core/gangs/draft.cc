// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/draft.h"

#include <algorithm>
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
  return fresh;
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
