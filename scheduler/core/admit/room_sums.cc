// SPDX-License-Identifier: Apache-2.0
#include "core/admit/room_sums.h"

#include <algorithm>
#include <utility>

#include "model/quantity.h"

namespace tutti::core {

using model::GangId;
using model::ResourceList;

ResourceList DemandOf(const std::vector<model::PromisedMembers>& promised,
                      const std::map<std::string, int64_t>& counts) {
  ResourceList demand;
  for (const model::PromisedMembers& members : promised) {
    const auto of_role = counts.find(members.role);
    const int64_t count = of_role == counts.end() ? members.count : std::min(members.count, of_role->second);
    for (const auto& [resource, amount] : members.pod->spec->requests)
      demand.Add(resource, model::SaturatingMul(amount, count));
  }
  return demand;
}

void SubtractUpTo(const ResourceList& amounts, ResourceList* from) {
  for (const auto& [resource, amount] : amounts)
    if (from->Has(resource)) from->Set(resource, std::max<int64_t>(0, from->Get(resource) - amount));
}

std::optional<RoomSums::Lack> RoomSums::LackFor(GangId id, const ResourceList& asked,
                                                const ResourceList& leaving) const {
  const auto own = taken_.find(id);
  for (const auto& [resource, amount] : asked) {
    int64_t free = model::SaturatingAdd(FreeOf(resource), leaving.Get(resource));
    if (own != taken_.end()) free = model::SaturatingAdd(free, own->second.Get(resource));
    free = std::max<int64_t>(0, model::SaturatingSub(free, total_.Get(resource)));
    if (amount > free) return Lack{std::string(resource), amount, free};
  }
  return std::nullopt;
}

int64_t RoomSums::FreeOf(std::string_view resource) const {
  const cluster::Snapshot& nodes = state_.snapshot();
  auto at = free_.find(resource);
  if (at == free_.end()) at = free_.emplace(resource, Known{}).first;
  Known& known = at->second;
  if (known.log_end == nodes.log_end() && known.log_end != 0) return known.free;
  const model::ResourceId column = nodes.resources().ColumnOfPods(resource);
  known = {nodes.log_end(), 0};
  for (uint32_t slot = 0; nodes.Exists(column) && slot < nodes.slots(); ++slot)
    if (const model::NodeId node(slot); nodes.present(node) && !nodes.unschedulable(node))
      known.free = model::SaturatingAdd(known.free, std::max<int64_t>(0, nodes.Free(node, column)));
  return known.free;
}

void RoomSums::Follow(GangId id, const Gang& gang, bool admitted, std::map<std::string, int64_t> counts) {
  if (!admitted) return Forget(id);
  if (counts.empty() && gang.quota && gang.quota->report.has)
    for (const model::HeldQuota::Role& role : gang.quota->report.has->roles) counts[role.name] = role.count;
  ResourceList open = DemandOf(gang.quota ? gang.quota->declared.promised : gang.spec.promised, counts);
  for (const Member* member : gang.members)
    if (const cluster::PodEntry& entry = state_.pod(member->pod); entry.node.valid() || entry.pod->done())
      SubtractUpTo(entry.pod->spec->requests, &open);
  Forget(id);
  total_.Add(open);
  taken_[id] = std::move(open);
}

void RoomSums::Forget(GangId id) {
  const auto at = taken_.find(id);
  if (at == taken_.end()) return;
  total_.Subtract(at->second);
  taken_.erase(at);
}

}  // namespace tutti::core
