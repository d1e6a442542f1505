// SPDX-License-Identifier: Apache-2.0
#include "core/place/gang_victims.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/place/evictable.h"

namespace tutti::core {

using model::GangId;
using model::PodId;

bool GangVictims::IsOfGang(PodId pod) const {
  const GangId gang = book_.GangOf(pod);
  return gang && !book_.at(gang).lone;
}

bool GangVictims::Concerns(std::span<const PossibleVictim> pods) const {
  return std::ranges::any_of(pods, [this](const PossibleVictim& one) { return IsOfGang(one.pod); });
}

const GangVictims::OfGang& GangVictims::Of(GangId id) {
  const auto known = of_.find(id);
  if (known != of_.end()) return known->second;
  Gang& gang = book_.at(id);
  Census stays = *book_.CensusOf(gang);
  const auto leaves = [this](const Member* member) {
    const cluster::PodEntry& entry = state_.pod(member->pod);
    return entry.leaving || entry.victim_of;
  };
  stays.placed.erase(std::remove_if(stays.placed.begin(), stays.placed.end(), leaves), stays.placed.end());
  const auto loose = [&](const Member& member) { return GoesBy(state_.pod(member.pod), &gang) < below_; };
  const bool lone = stays.placed.size() == 1 && !gang.plan && loose(*stays.placed.front());
  OfGang of{lone, Spare(gang, stays, state_, loose), {}};
  for (size_t part = 0; part < of.spare.parts().size(); ++part)
    if (of.spare.parts()[part].size() == 1) of.part_of[of.spare.parts()[part].front()->pod] = part;
  return of_.emplace(id, std::move(of)).first->second;
}

void GangVictims::KeepWhatMayGo(std::vector<PossibleVictim>* pods) {
  std::map<GangId, std::vector<std::pair<size_t, PodId>>> spare;
  const auto goes_by_itself = [&](PodId pod) {
    if (!IsOfGang(pod) || state_.pod(pod).pod->meta.deleting()) return true;
    if (book_.at(book_.GangOf(pod)).dialect->blind()) return false;  // what it needs is not known
    const OfGang& of = Of(book_.GangOf(pod));
    if (const auto part = of.part_of.find(pod); part != of.part_of.end())
      spare[book_.GangOf(pod)].emplace_back(part->second, pod);
    return of.lone;
  };
  std::vector<PodId> may_go;
  for (const PossibleVictim& one : *pods)
    if (goes_by_itself(one.pod)) may_go.push_back(one.pod);
  for (auto& [gang, parts] : spare) {
    std::ranges::sort(parts);
    std::vector<size_t> together;
    for (const auto& [part, pod] : parts)
      if (Of(gang).spare.TryAdd(part, &together)) may_go.push_back(pod);
  }
  std::ranges::sort(may_go);
  const size_t kept =
      std::erase_if(*pods, [&](const PossibleVictim& one) { return !std::ranges::binary_search(may_go, one.pod); });
  kept_some_ = kept_some_ || kept > 0;
}

}  // namespace tutti::core
