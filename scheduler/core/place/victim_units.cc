// SPDX-License-Identifier: Apache-2.0
#include "core/place/victim_units.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <utility>

#include "base/planted.h"
#include "core/place/evictable.h"
#include "model/quantity.h"

namespace tutti::core {

using base::Millis;
using model::GangId;
using model::NodeId;
using model::PodId;
using What = VictimUnit::What;

Millis VictimUnits::SinceOf(PodId id) const {
  const model::Pod& pod = *state_.pod(id).pod;
  return pod.bound_ms != 0 ? pod.bound_ms : pod.meta.created_ms;
}

// GPUs and the like are all that nodes have besides cpu, memory, storage and pods.
VictimCost VictimUnits::CostOf(PodId id) const {
  const cluster::PodEntry& entry = state_.pod(id);
  VictimCost cost{.pods = 1};
  const Millis for_ms = std::max<Millis>(0, clock_.WallMs() - SinceOf(id));
  for (const auto& [column, amount] : entry.pod_class->requests)
    if (column > cluster::kPodsColumn && !state_.snapshot().resources().Text(column).starts_with("hugepages-"))
      cost.lost_gpu_ms =
          model::SaturatingAdd(cost.lost_gpu_ms, model::SaturatingMul(std::min<int64_t>(amount, 1 << 20), for_ms));
  return cost;
}

bool VictimUnits::Goes(PodId id) {
  const cluster::PodEntry& entry = state_.pod(id);
  if (NeverGoes(*entry.pod)) return false;
  const bool goes = !entry.reserved && !entry.victim_of && rights_->LetsGo(id);
  left_some_ = left_some_ || !goes;
  return goes;
}

void VictimUnits::Add(VictimUnit unit, std::vector<VictimUnit>* units) {
  if (rights_->MayEverTake(unit)) units->push_back(std::move(unit));
}

// A gang that has quota is admitted with its nodes: that is not undone here.
void VictimUnits::AddHeld(GangId id, std::vector<VictimUnit>* units) {
  Gang& gang = book_.at(id);
  const int32_t priority = book_.Priority(gang);
  if (priority > highest_) return;
  const std::shared_ptr<const Census> census = book_.CensusOf(gang);
  VictimUnit unit{What::kHeld, id, priority, {}, {}, clock_.WallMs(), 0};
  for (const Member* member : census->reserved) unit.pods.push_back(member->pod);
  const bool protected_one =
      std::ranges::any_of(unit.pods, [this](PodId pod) { return NeverGoes(*state_.pod(pod).pod); });
  if (gang.quota || protected_one || !HoldsRoomAlone(gang, *census)) {
    left_some_ = true;
    return;
  }
  std::ranges::sort(unit.pods);
  Add(std::move(unit), units);
}

void VictimUnits::AddGang(GangId id, std::span<const NodeId> nodes, std::vector<VictimUnit>* units) {
  Gang& gang = book_.at(id);
  const int32_t priority = book_.Priority(gang);
  if (priority > highest_) return;
  const bool loses = std::ranges::any_of(gang.members, [this](const Member* member) {
    return state_.pod(member->pod).victim_of || state_.pod(member->pod).leaving;
  });
  if (gang.plan || loses || !gang.whole) {
    left_some_ = true;
    return;
  }
  const std::shared_ptr<const Census> census = book_.CensusOf(gang);
  const auto near = [&](const Member& member) {
    return std::ranges::binary_search(nodes, state_.pod(member.pod).node);
  };
  const auto goes = [this](const Member& member) { return Goes(member.pod); };
  const auto unit_of = [&](What what, const Members& members) {
    VictimUnit unit{what, id, priority, {}, {}, 0, 0};
    for (const Member* member : members) {
      unit.pods.push_back(member->pod);
      unit.cost += CostOf(member->pod);
      unit.since_ms = std::max(unit.since_ms, SinceOf(member->pod));
    }
    std::ranges::sort(unit.pods);
    return unit;
  };
  const auto spare = spares_.find(id);
  const Spare& parts =
      spare != spares_.end() ? spare->second : spares_.try_emplace(id, gang, *census, state_, goes).first->second;
  for (size_t i = 0; i < parts.parts().size(); ++i) {
    const Members& part = parts.parts()[i];
    if (std::ranges::none_of(part, [&](const Member* member) { return near(*member); })) continue;
    VictimUnit unit = unit_of(What::kSpare, part);
    unit.part = i;
    Add(std::move(unit), units);
  }
  if (!std::ranges::all_of(census->placed, [&](const Member* member) { return goes(*member); })) return;
  VictimUnit all = unit_of(What::kGang, census->placed);
  all.cost.gangs = 1;
  all.cost.lost_gpu_ms = model::SaturatingMul(all.cost.lost_gpu_ms, 1 + gang.restarts);
  Add(std::move(all), units);
}

std::vector<VictimUnit> VictimUnits::On(std::span<const NodeId> nodes, int32_t highest, GangId taker) {
  highest_ = highest;
  left_some_ = false;
  std::vector<VictimUnit> units;
  absl::flat_hash_set<GangId> seen;
  for (const NodeId n : nodes)
    for (const PodId id : state_.pods_on(n)) {
      const GangId gang = book_.GangOf(id);
      if (gang && gang == taker) continue;
      const cluster::PodEntry& entry = state_.pod(id);
      const int32_t priority = GoesBy(entry, gang ? &book_.at(gang) : nullptr);
      if (entry.reserved && gang) {
        if (seen.insert(gang).second) AddHeld(gang, &units);
        continue;
      }
      if (priority > highest || !Goes(id)) continue;
      if (entry.pod->meta.deleting())
        units.push_back({What::kLeaving, gang, priority, {id}, {}, SinceOf(id), 0});
      else if (!gang || book_.at(gang).lone)
        Add({What::kLone, gang, priority, {id}, CostOf(id), SinceOf(id), 0}, &units);
      else if (seen.insert(gang).second)
        AddGang(gang, nodes, &units);
    }
  std::ranges::sort(units, {}, RankOf);
  if (state_.budgets().empty()) return units;
  CountBreaks(&units);
  std::ranges::sort(units, {}, RankOf);
  return units;
}

int64_t VictimUnits::BreaksOf(const VictimUnit& unit, Left* left) const {
  if (unit.what == What::kLeaving || unit.what == What::kHeld || base::Planted(base::Bug::kIgnoreBudgets)) return 0;
  int64_t breaks = 0;
  std::vector<const model::DisruptionBudget*> budgets;
  for (const PodId pod : unit.pods) {
    budgets.clear();
    state_.budgets().ThatProtect(*state_.pod(pod).pod, &budgets);
    bool breaks_one = false;
    for (const model::DisruptionBudget* budget : budgets)
      breaks_one = --left->try_emplace(budget, budget->allowed).first->second < 0 || breaks_one;
    breaks += breaks_one;
  }
  return breaks;
}

void VictimUnits::CountBreaks(std::vector<VictimUnit>* units) const {
  Left gangs, others;
  for (VictimUnit& unit : *units) unit.cost.breaks = BreaksOf(unit, unit.what == What::kGang ? &gangs : &others);
}

VictimCost VictimUnits::CostTogether(std::span<const VictimUnit> units) const {
  VictimCost cost;
  for (const VictimUnit& unit : units) cost += unit.cost;
  if (state_.budgets().empty()) return cost;
  Left left;
  cost.breaks = 0;
  for (const VictimUnit& unit : units) cost.breaks += BreaksOf(unit, &left);
  return cost;
}

}  // namespace tutti::core
