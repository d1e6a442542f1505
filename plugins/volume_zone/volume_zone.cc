// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_zone/volume_zone.h"

#include <algorithm>
#include <array>
#include <optional>

#include "plugins/common/claims.h"

namespace tutti::plugins {
namespace {

using framework::Verdict;
using model::Symbol;

// A label key, and its newer name, since Kubernetes 1.17.
struct Label {
  const char *key, *now;
};
constexpr Label kLabels[] = {
    {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
    {"topology.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"topology.kubernetes.io/region", "topology.kubernetes.io/region"},
};

// Splits "a__b" into {a, b}; nullopt if one of them is blank (cloud-provider LabelZonesToSet).
std::optional<std::vector<std::string>> SplitZones(std::string_view text) {
  std::vector<std::string> zones;
  for (size_t at = 0; at != std::string_view::npos;) {
    const size_t end = text.find("__", at);
    std::string_view zone = text.substr(at, end == std::string_view::npos ? end : end - at);
    at = end == std::string_view::npos ? end : end + 2;
    const size_t first = zone.find_first_not_of(" \t"), last = zone.find_last_not_of(" \t");
    if (first == std::string_view::npos) return std::nullopt;
    zones.emplace_back(zone.substr(first, last - first + 1));
  }
  return zones;
}

class ZoneState final : public framework::FilterState {
 public:
  ZoneState(const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot) : snapshot_(snapshot) {
    for (size_t i = 0; i < keys_.size(); ++i) keys_[i] = snapshot.symbols().Intern(kLabels[i].key);
    for (const cluster::ClaimUse& use : pod_class.claims)
      if (use.owner.empty() && !Add(use)) return;
  }

  bool idle() const { return refusal_.empty() && zones_.empty(); }
  std::string RefusesClass() const override { return refusal_; }

  Verdict Check(model::NodeId n) const override {
    const cluster::NodeEntry& node = snapshot_.node(n);
    if (std::ranges::none_of(keys_, [&](Symbol key) { return node.Label(key).valid(); })) return Verdict::kFits;
    const bool all = std::ranges::all_of(zones_, [&](const Zone& zone) {
      Symbol value = node.Label(zone.key);
      if (!value) value = node.Label(zone.now);
      return value && std::ranges::find(zone.values, value) != zone.values.end();
    });
    return all ? Verdict::kFits : Verdict::kNever;
  }
  void Explain(model::NodeId, std::vector<std::string>* reasons) const override {
    reasons->emplace_back("node(s) had no available volume zone");
  }

 private:
  struct Zone {
    Symbol key, now;
    std::vector<Symbol> values;
  };

  // Adds the zones of the claim's volume. False when the claim refuses the class.
  bool Add(const cluster::ClaimUse& use) {
    const cluster::Storage& storage = snapshot_.storage();
    const model::Claim* claim = FindClaim(use, storage);
    if (!claim)
      refusal_ = NotFound("persistentvolumeclaim", ClaimName(use));
    else if (claim->volume.empty())
      refusal_ = WithoutVolume(*claim);
    else if (const model::Volume* volume = cluster::Storage::Find(storage.volumes(), claim->volume))
      AddZones(*volume);
    else
      refusal_ = NotFound("persistentvolume", claim->volume);
    return refusal_.empty();
  }

  std::string WithoutVolume(const model::Claim& claim) const {
    if (claim.storage_class.empty()) return "PersistentVolumeClaim had no pv name and storageClass name";
    const model::StorageClass* made = cluster::Storage::Find(snapshot_.storage().classes(), claim.storage_class);
    if (!made) return NotFound("storageclass.storage.k8s.io", claim.storage_class);
    return made->waits_for_consumer ? "" : "PersistentVolume had no name";
  }

  void AddZones(const model::Volume& volume) {
    cluster::SymbolTable& symbols = snapshot_.symbols();
    for (const Label& label : kLabels) {
      const std::string* text = model::Find(volume.meta.labels, label.key);
      const auto zones = text ? SplitZones(*text) : std::nullopt;
      if (!zones) continue;
      Zone& zone = zones_.emplace_back(Zone{symbols.Intern(label.key), symbols.Intern(label.now), {}});
      for (const std::string& name : *zones) zone.values.push_back(symbols.Intern(name));
    }
  }

  const cluster::Snapshot& snapshot_;
  std::array<Symbol, std::size(kLabels)> keys_;
  std::string refusal_;
  std::vector<Zone> zones_;
};

}  // namespace

std::unique_ptr<framework::FilterState> VolumeZone::PrepareFilter(const cluster::PodClass& pod_class,
                                                                  const cluster::Snapshot& snapshot) const {
  if (pod_class.claims.empty()) return nullptr;
  auto state = std::make_unique<ZoneState>(pod_class, snapshot);
  if (state->idle()) return nullptr;
  return state;
}

}  // namespace tutti::plugins
