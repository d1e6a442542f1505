// SPDX-License-Identifier: Apache-2.0
#include "core/admit/queue_admission.h"

#include <algorithm>

#include "core/gangs/lightest.h"
#include "model/quantity.h"

namespace tutti::core {

using model::ResourceList;

Admission QueueAdmission::Admit(const Gang& gang, const ResourceList& ask) const {
  Admission all;
  for (const queue::QueueKey& queue : QueuesOf(gang)) all.Add(queues_.Admit(queue, ask));
  return all;
}

std::set<std::string_view> QueueAdmission::Limited(const Gang& gang) const {
  std::set<std::string_view> names;
  for (const queue::QueueKey& queue : QueuesOf(gang)) names.merge(queues_.Limited(queue));
  return names;
}

Admission QueueAdmission::ToStart(const Gang& gang, const Census& census, const Requirement& requirement) const {
  const QueueKeys queues = QueuesOf(gang);
  if (queues.empty()) return {};
  ResourceList ask;
  // Users make up resources without end, and each costs a look at all members.
  if (requirement.reachable()) ask = LeastWeight(census.pending, requirement, state_, Limited(gang));
  if (requirement.have > 0 || !gang.spec.min_resources) return Admit(gang, ask);
  if (!queues_.LimitsFollowDemand()) {
    ask.MaxAll(*gang.spec.min_resources);
    return Admit(gang, ask);
  }
  // A share is of what pods ask for, and there may be none before the queue lets the gang in.
  Admission admission = Admit(gang, ask);
  if (!admission.admitted()) return admission;
  for (const queue::QueueKey& queue : queues)
    admission.Add(queues_.AdmitByCapability(queue, *gang.spec.min_resources));
  return admission;
}

Admission QueueAdmission::Of(const Gang& gang, const Members& members) const {
  ResourceList ask;
  for (const Member* member : members) ask.AddAll(WeightOf(*state_.pod(member->pod).pod_class));
  return Admit(gang, ask);
}

Admission QueueAdmission::Of(const Gang& gang, const std::vector<cluster::Placement>& placements) const {
  ResourceList ask;
  for (const cluster::Placement& placement : placements) ask.AddAll(WeightOf(*placement.pod_class));
  return Admit(gang, ask);
}

bool QueueAdmission::IsRefusedByMinResources(const Gang& gang, const Census& census, const Requirement& requirement,
                                             const Admission& admission) const {
  if (!gang.spec.min_resources || requirement.have > 0) return false;
  ResourceList members;
  if (requirement.reachable())
    members = LeastWeight(census.pending, requirement, state_, Limited(gang));
  return std::ranges::any_of(admission.shortages,
                             [&](const auto& shortage) { return shortage.asked > members.Get(shortage.resource); });
}

std::optional<QueueAdmission::Lack> QueueAdmission::LackOfMinResources(const Gang& gang) const {
  if (!gang.spec.min_resources) return std::nullopt;
  for (const auto& [name, asked] : *gang.spec.min_resources)
    if (const int64_t free = FreeOf(name); asked > free) return Lack{std::string(name), asked, free};
  return std::nullopt;
}

int64_t QueueAdmission::FreeOf(std::string_view resource) const {
  const cluster::Snapshot& nodes = state_.snapshot();
  const model::ResourceId column = nodes.resources().ColumnOfPods(resource);
  int64_t free = 0;
  for (uint32_t slot = 0; nodes.Exists(column) && slot < nodes.slots(); ++slot)
    free = model::SaturatingAdd(free, std::max<int64_t>(0, nodes.Free(model::NodeId(slot), column)));
  return free;
}

std::optional<QueueAdmission::Excess> QueueAdmission::ExcessOfMinResources(const Gang& gang, const Census& census,
                                                                           const Requirement& requirement) const {
  if (!gang.spec.min_resources || requirement.have > 0) return std::nullopt;
  ResourceList members;
  for (const Member* member : gang.members) members.AddAll(WeightOf(*state_.pod(member->pod).pod_class));
  std::optional<Admission> admission;
  for (const auto& [name, asked] : *gang.spec.min_resources) {
    if (asked <= members.Get(name)) continue;
    if (!admission) admission = ToStart(gang, census, requirement);
    const bool queue_lacks = std::ranges::any_of(
        admission->shortages, [&name = name](const auto& shortage) { return shortage.resource == name; });
    if (queue_lacks || asked > FreeOf(name)) return Excess{std::string(name), asked, members.Get(name)};
  }
  return std::nullopt;
}

}  // namespace tutti::core
