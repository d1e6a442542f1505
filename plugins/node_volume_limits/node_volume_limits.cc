// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_volume_limits/node_volume_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "plugins/common/claims.h"
#include "plugins/common/size_limits.h"

namespace tutti::plugins {
namespace {

using cluster::PodClass;
using cluster::Storage;
using framework::Verdict;
using model::CsiDisk;
using model::PodVolume;

struct DiskLess {
  bool operator()(const CsiDisk& a, const CsiDisk& b) const {
    return std::tie(a.driver, a.handle) < std::tie(b.driver, b.handle);
  }
};
using Disks = std::set<CsiDisk, DiskLess>;

bool IsClaim(const PodVolume& volume) {
  return volume.source == PodVolume::Source::kClaim || volume.source == PodVolume::Source::kEphemeral;
}

// Returns the disk of a claim. A disk that does not exist yet has the claim's name.
CsiDisk DiskOf(const cluster::ClaimUse& use, const model::Claim& claim, const Storage& storage) {
  if (const model::Volume* volume = Storage::Find(storage.volumes(), claim.volume)) return volume->disk;
  const model::StorageClass* made = Storage::Find(storage.classes(), claim.storage_class);
  return made ? CsiDisk{std::string(model::CsiDriverOfProvisioner(made->provisioner)), "?" + use.claim} : CsiDisk{};
}

// Adds the disks of a pod. Returns the first claim that does not exist, or nullptr.
const cluster::ClaimUse* AddDisks(const PodClass& pod_class, const Storage& storage, Disks* disks) {
  const cluster::ClaimUse* missing = nullptr;
  const auto add = [&](const CsiDisk& disk) {
    if (!disk.driver.empty() && !disk.handle.empty()) disks->insert(disk);
  };
  for (const PodVolume& volume : pod_class.spec->volumes)
    if (!IsClaim(volume)) add(volume.csi);
  for (const cluster::ClaimUse& use : pod_class.claims)
    if (const model::Claim* claim = FindClaim(use, storage))
      add(DiskOf(use, *claim, storage));
    else if (!missing)
      missing = &use;
  return missing;
}

class LimitsState final : public framework::FilterState {
 public:
  LimitsState(const PodClass& pod_class, const cluster::Snapshot& snapshot) : snapshot_(snapshot) {
    if (const cluster::ClaimUse* use = AddDisks(pod_class, snapshot.storage(), &mine_))
      missing_ = fmt::format("looking up PVC {}: {}", use->claim, NotFound("persistentvolumeclaim", ClaimName(*use)));
    for (const auto& [name, attachment] : snapshot.storage().attachments()) {
      const model::Volume* volume = Storage::Find(snapshot.storage().volumes(), attachment->volume);
      if (!attachment->driver.empty() && volume && !volume->in_tree)
        attached_[attachment->node].insert({attachment->driver, volume->disk.handle});
    }
  }

  Verdict Check(model::NodeId n) const override {
    if (!missing_.empty()) return Verdict::kNever;
    const cluster::NodeEntry& node = snapshot_.node(n);
    const model::CsiNode* csi = Storage::Find(snapshot_.storage().csi_nodes(), node.name);
    if (!csi || mine_.empty()) return Verdict::kFits;
    const bool limited = std::ranges::any_of(csi->drivers, [](const auto& driver) { return driver.limit.has_value(); });
    return limited && Exceeds(node, csi->drivers) ? Verdict::kNotNow : Verdict::kFits;
  }
  void Explain(model::NodeId, std::vector<std::string>* reasons) const override {
    reasons->push_back(missing_.empty() ? "node(s) exceed max volume count" : missing_);
  }

 private:
  bool Exceeds(const cluster::NodeEntry& node, const std::vector<model::CsiNode::Driver>& drivers) const {
    Disks used;
    for (const PodClass* pod : node.with_volumes)
      if (IsLookedAt(pod->spec->volumes)) AddDisks(*pod, snapshot_.storage(), &used);
    std::map<std::string, int64_t> now, more;
    for (const CsiDisk& disk : mine_)
      if (!used.contains(disk)) ++more[disk.driver];
    for (const CsiDisk& disk : used) ++now[disk.driver];
    if (const auto at = attached_.find(node.name); at != attached_.end())
      for (const CsiDisk& disk : at->second)
        if (!used.contains(disk)) ++now[disk.driver];
    return std::ranges::any_of(drivers, [&](const auto& driver) {
      return driver.limit && more.contains(driver.name) && now[driver.name] + more[driver.name] > *driver.limit;
    });
  }

  const cluster::Snapshot& snapshot_;
  Disks mine_;
  std::string missing_;
  std::map<std::string, Disks> attached_;  // by node
};

}  // namespace

std::unique_ptr<framework::FilterState> NodeVolumeLimits::PrepareFilter(const PodClass& pod_class,
                                                                        const cluster::Snapshot& snapshot) const {
  const bool counts = std::ranges::any_of(
      pod_class.spec->volumes, [](const PodVolume& volume) { return IsClaim(volume) || !volume.csi.driver.empty(); });
  return counts ? std::make_unique<LimitsState>(pod_class, snapshot) : nullptr;
}

}  // namespace tutti::plugins
