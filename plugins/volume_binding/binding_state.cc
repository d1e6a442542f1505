// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/binding_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/common/claims.h"

namespace tutti::plugins {
namespace {

using cluster::NodeEntry;
using cluster::Storage;
using framework::Verdict;
using model::Claim;
using model::NodeId;
using model::Volume;

NodeMatch NodesOf(const Volume& volume, const cluster::Snapshot& snapshot) {
  return NodeMatch({}, volume.node_affinity, snapshot.symbols());
}

// Says why a pod may not use the claim at all; empty: it may.
std::string Unusable(const cluster::ClaimUse& use, const Claim* claim) {
  const std::string name = ClaimName(use);
  if (!claim && !use.owner.empty())
    return fmt::format("waiting for ephemeral volume controller to create the persistentvolumeclaim \"{}\"", name);
  if (!claim) return NotFound("persistentvolumeclaim", name);
  if (claim->lost)
    return fmt::format("persistentvolumeclaim \"{}\" bound to non-existent persistentvolume \"{}\"", name,
                       claim->volume);
  if (claim->meta.deleting()) return fmt::format("persistentvolumeclaim \"{}\" is being deleted", name);
  if (!IsForPod(use, *claim))
    return fmt::format("PVC {} was not created for pod {}/{} (pod is not owner)", use.claim, claim->meta.ns,
                       use.owner_name);
  return {};
}

// Whether the volume could serve the claim on some node: by size, mode, and that it is not being deleted.
bool CouldServe(const Volume& volume, const Claim& claim) {
  return volume.size >= claim.size.value_or(0) && volume.volume_mode == claim.volume_mode &&
         volume.attributes_class == claim.attributes_class && !volume.meta.deleting();
}

bool HasModes(const Volume& volume, const Claim& claim) {
  return std::ranges::all_of(claim.access_modes, [&](const std::string& mode) {
    return std::ranges::find(volume.access_modes, mode) != volume.access_modes.end();
  });
}

}  // namespace

BindingState::BindingState(const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot)
    : snapshot_(snapshot) {
  for (const cluster::ClaimUse& use : pod_class.claims)
    if (refusal_ = Unusable(use, FindClaim(use, snapshot.storage())); !refusal_.empty()) return;
  std::vector<const cluster::ClaimUse*> open = SortOut(pod_class);
  if (!refusal_.empty()) return;
  std::ranges::stable_sort(open, {},
                           [&](const auto* use) { return FindClaim(*use, snapshot.storage())->size.value_or(0); });
  for (const cluster::ClaimUse* use : open) {
    const Claim& claim = *FindClaim(*use, snapshot.storage());
    open_.push_back({&claim, use->claim, {}, ProvisioningFor(claim), {}, {}});
    AddCandidates(open_.back());
  }
  ReadTaken();
}

std::vector<const cluster::ClaimUse*> BindingState::SortOut(const cluster::PodClass& pod_class) {
  const Storage& storage = snapshot_.storage();
  std::vector<const cluster::ClaimUse*> open;
  for (const cluster::ClaimUse& use : pod_class.claims) {
    const Claim& claim = *FindClaim(use, storage);
    if (claim.bound()) {
      const Volume* volume = Storage::Find(storage.volumes(), claim.volume);
      if (volume)
        bound_.emplace_back(NodesOf(*volume, snapshot_));
      else
        bound_.emplace_back();
      continue;
    }
    const model::StorageClass* made = Storage::Find(storage.classes(), claim.storage_class);
    if (!claim.volume.empty() || !made || !made->waits_for_consumer)
      refusal_ = "pod has unbound immediate PersistentVolumeClaims";
    else if (std::ranges::find(open, use.claim, [](const auto* known) { return known->claim; }) == open.end())
      open.push_back(&use);
  }
  return open;
}

void BindingState::AddCandidates(OpenClaim& open) const {
  const Claim& claim = *open.claim;
  const PodSelector selector(claim.selector ? claim.selector : model::LabelSelector{}, snapshot_.symbols());
  std::vector<const Volume*> free;
  for (const auto& [name, volume] : snapshot_.storage().volumes()) {
    if (volume->storage_class != claim.storage_class || !CouldServe(*volume, claim)) continue;
    if (volume->claim) {
      if (volume->claim->Means(claim)) open.reserved.push_back({volume.get(), NodesOf(*volume, snapshot_), {}});
      continue;
    }
    if (volume->available && selector.Match(cluster::InternLabels(volume->meta.labels, snapshot_.symbols())) &&
        HasModes(*volume, claim))
      free.push_back(volume.get());
  }
  std::ranges::stable_sort(free, {}, &Volume::size);
  for (const Volume* volume : free) open.free.push_back({volume, NodesOf(*volume, snapshot_), {}});
}

BindingState::Provisioning BindingState::ProvisioningFor(const Claim& claim) const {
  const Storage& storage = snapshot_.storage();
  const model::StorageClass& made = *Storage::Find(storage.classes(), claim.storage_class);
  Provisioning provisioning;
  provisioning.possible = !made.provisioner.empty() && made.provisioner != model::kNoProvisioner;
  provisioning.anywhere = made.topologies.empty();
  for (const std::vector<model::Requirement>& term : made.topologies) {
    Requirements compiled(snapshot_.symbols());
    const bool valid = std::ranges::all_of(term, [&](const model::Requirement& r) { return compiled.Add(r); });
    if (valid && !term.empty()) provisioning.topologies.push_back(std::move(compiled));
  }
  const model::CsiDriver* driver = Storage::Find(storage.csi_drivers(), made.provisioner);
  provisioning.limited = claim.size && driver && driver->counts_capacity;
  if (!provisioning.limited) return provisioning;
  for (const auto& [name, capacity] : storage.capacities())
    if (capacity->storage_class == made.meta.name && capacity->largest && *capacity->largest >= *claim.size)
      provisioning.capacity.emplace_back(capacity->nodes, snapshot_.symbols());
  return provisioning;
}

void BindingState::ReadTaken() {
  const Storage& storage = snapshot_.storage();
  seen_taken_ = storage.taken_version();
  for (OpenClaim& open : open_) {
    for (Candidate& candidate : open.free) {
      const std::string* taker = storage.TakerOf(candidate.volume->meta.name);
      candidate.taker = taker ? *taker : "";
    }
    open.selected_node = open.claim->selected_node;
    const Storage::Taken* taken = storage.TakenFor(open.key);
    if (taken && taken->volume.empty() && !open.selected_node) open.selected_node = snapshot_.node(taken->node).name;
  }
}

void BindingState::PodChanged(const cluster::PodClass&, NodeId, int32_t, framework::Dirty& dirty) {
  if (seen_taken_ == snapshot_.storage().taken_version()) return;
  std::vector<std::pair<std::optional<std::string>, std::vector<std::string>>> before;
  for (const OpenClaim& open : open_) {
    auto& [selected, takers] = before.emplace_back(open.selected_node, std::vector<std::string>());
    for (const Candidate& candidate : open.free) takers.push_back(candidate.taker);
  }
  ReadTaken();
  for (size_t i = 0; i < open_.size(); ++i) {
    if (open_[i].selected_node != before[i].first) return dirty.Everything();
    for (size_t j = 0; j < open_[i].free.size(); ++j) {
      const Candidate& candidate = open_[i].free[j];
      if (candidate.taker == before[i].second[j]) continue;
      if (candidate.nodes.any() || candidate.taker == open_[i].key || before[i].second[j] == open_[i].key)
        return dirty.Everything();
      for (uint32_t n = 0; n < snapshot_.slots(); ++n)
        if (snapshot_.present(NodeId(n)) && candidate.nodes.Match(snapshot_.node(NodeId(n)))) dirty.Node(NodeId(n));
    }
  }
}

Verdict BindingState::Check(NodeId n) const { return Find(n, nullptr).fits() ? Verdict::kFits : Verdict::kNever; }

void BindingState::Choose(NodeId n, cluster::Takings* takings) const { Find(n, takings); }

void BindingState::Explain(NodeId n, std::vector<std::string>* reasons) const {
  const Outcome outcome = Find(n, nullptr);
  if (outcome.bound_elsewhere) reasons->emplace_back("node(s) didn't match PersistentVolume's node affinity");
  if (outcome.nothing_to_bind) reasons->emplace_back("node(s) didn't find available persistent volumes to bind");
  if (outcome.no_space) reasons->emplace_back("node(s) did not have enough free storage");
  if (outcome.bound_missing)
    reasons->emplace_back("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
}

BindingState::Outcome BindingState::Find(NodeId n, cluster::Takings* takings) const {
  const NodeEntry& node = snapshot_.node(n);
  Outcome outcome;
  CheckBound(node, &outcome);
  for (const OpenClaim& open : open_)
    if (open.selected_node && *open.selected_node != node.name) {
      outcome.nothing_to_bind = true;
      return outcome;
    }
  std::vector<const OpenClaim*> to_provision;
  std::vector<const Volume*> chosen;
  for (const OpenClaim& open : open_)
    if (open.selected_node) to_provision.push_back(&open);
  for (const OpenClaim& open : open_) {
    if (open.selected_node) continue;
    const Volume* volume = Match(open, node, chosen);
    if (!volume) {
      to_provision.push_back(&open);
      continue;
    }
    chosen.push_back(volume);
    if (takings) takings->volumes.push_back({open.key, volume->meta.name});
  }
  for (const OpenClaim* open : to_provision) {
    Provision(*open, node, &outcome);
    if (outcome.nothing_to_bind || outcome.no_space) break;
    if (takings) takings->volumes.push_back({open->key, ""});
  }
  return outcome;
}

// Checks the volumes of bound claims; the first that fails gives the reason.
void BindingState::CheckBound(const NodeEntry& node, Outcome* outcome) const {
  for (const std::optional<NodeMatch>& nodes : bound_) {
    outcome->bound_missing = !nodes;
    outcome->bound_elsewhere = nodes && !nodes->Match(node);
    if (!outcome->fits()) return;
  }
}

const Volume* BindingState::Match(const OpenClaim& open, const NodeEntry& node,
                                  const std::vector<const Volume*>& chosen) {
  const auto unchosen = [&](const Candidate& candidate) {
    return std::ranges::find(chosen, candidate.volume) == chosen.end();
  };
  const auto if_here = [&](const Candidate& candidate) {
    return candidate.nodes.Match(node) ? candidate.volume : nullptr;
  };
  // If volumes are reserved for the claim, it can only get one of these.
  for (const Candidate& candidate : open.reserved)
    if (unchosen(candidate)) return if_here(candidate);
  for (const Candidate& candidate : open.free)
    if (candidate.taker == open.key && unchosen(candidate)) return if_here(candidate);
  for (const Candidate& candidate : open.free)
    if (candidate.taker.empty() && unchosen(candidate) && candidate.nodes.Match(node)) return candidate.volume;
  return nullptr;
}

void BindingState::Provision(const OpenClaim& open, const NodeEntry& node, Outcome* outcome) {
  const Provisioning& how = open.provisioning;
  const auto matches = [&](const auto& nodes) { return nodes.Match(node.labels); };
  outcome->nothing_to_bind = !how.possible || (!how.anywhere && std::ranges::none_of(how.topologies, matches));
  outcome->no_space = !outcome->nothing_to_bind && how.limited && std::ranges::none_of(how.capacity, matches);
}

}  // namespace tutti::plugins
