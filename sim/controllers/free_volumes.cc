// SPDX-License-Identifier: Apache-2.0
#include "sim/controllers/free_volumes.h"

#include <algorithm>

#include "model/quantity.h"

namespace tutti::sim {
namespace {

bool IsFree(const Json& volume) {
  return DigString(volume, "status", "phase") == "Available" && Dig(volume, "spec", "claimRef").is_null() &&
         !IsTerminating(volume);
}

bool HasModesOf(const Json& volume, const Json& claim) {
  const Json& modes = ArrayOf(Dig(volume, "spec", "accessModes"));
  return std::ranges::all_of(ArrayOf(Dig(claim, "spec", "accessModes")),
                             [&](const Json& mode) { return std::ranges::find(modes, mode) != modes.end(); });
}

int64_t Bytes(const Json& quantity) {
  const auto parsed = model::ParseUnits(StringOf(quantity));
  return parsed ? parsed->value : 0;
}

}  // namespace

bool FreeVolumes::Put(const Json& volume) {
  Remove(NameOf(volume));
  if (!IsFree(volume)) return false;
  const std::string& of_class = DigString(volume, "spec", "storageClassName");
  const Place place{Bytes(Dig(volume, "spec", "capacity", "storage")), NameOf(volume)};
  by_class_[of_class].insert(place);
  known_[NameOf(volume)] = {of_class, place};
  return true;
}

void FreeVolumes::Remove(const std::string& name) {
  const auto known = known_.find(name);
  if (known == known_.end()) return;
  const auto& [of_class, place] = known->second;
  const auto at = by_class_.find(of_class);
  at->second.erase(place);
  if (at->second.empty()) by_class_.erase(at);
  known_.erase(known);
}

Object FreeVolumes::SmallestFor(const Store& store, const Json& claim) const {
  const auto volumes = by_class_.find(DigString(claim, "spec", "storageClassName"));
  if (volumes == by_class_.end()) return nullptr;
  const int64_t wanted = Bytes(Dig(claim, "spec", "resources", "requests", "storage"));
  for (auto place = volumes->second.lower_bound({wanted, ""}); place != volumes->second.end(); ++place) {
    const Object volume = store.Find(kVolumes, "", place->second);
    // What the store has may be ahead of the events that came here.
    if (volume && IsFree(*volume) && HasModesOf(*volume, claim)) return volume;
  }
  return nullptr;
}

}  // namespace tutti::sim
