// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_restrictions/volume_restrictions.h"

#include <algorithm>

#include "plugins/common/claims.h"
#include "plugins/common/size_limits.h"

namespace tutti::plugins {
namespace {

using cluster::PodClass;
using framework::Verdict;
using model::PodVolume;
using Source = PodVolume::Source;

bool IsDisk(const PodVolume& volume) {
  return volume.source == Source::kGcePersistentDisk || volume.source == Source::kAwsElasticBlockStore ||
         volume.source == Source::kIscsi || volume.source == Source::kRbd;
}

bool Conflict(const PodVolume& a, const PodVolume& b) {
  if (a.source != b.source || a.disk != b.disk) return false;
  if (a.source == Source::kAwsElasticBlockStore) return true;
  if (a.source == Source::kRbd && std::ranges::find_first_of(a.monitors, b.monitors) == a.monitors.end()) return false;
  return !(a.read_only && b.read_only);
}

class RestrictionsState final : public framework::FilterState {
 public:
  RestrictionsState(const PodClass& pod_class, const cluster::Snapshot& snapshot) : snapshot_(snapshot) {
    std::ranges::copy_if(pod_class.spec->volumes, std::back_inserter(disks_), IsDisk);
    for (const cluster::ClaimUse& use : pod_class.claims) {
      if (!use.owner.empty()) continue;
      const model::Claim* claim = FindClaim(use, snapshot.storage());
      if (!claim) {
        refusal_ = NotFound("persistentvolumeclaim", ClaimName(use));
        return;
      }
      if (claim->HasMode("ReadWriteOncePod")) exclusive_.push_back(use.claim);
    }
    in_use_ = InUse();
  }

  bool idle() const { return disks_.empty() && exclusive_.empty() && refusal_.empty(); }
  std::string RefusesClass() const override { return refusal_; }

  Verdict Check(model::NodeId n) const override {
    return in_use_ + tried_ > 0 || DiskInUse(n) ? Verdict::kNotNow : Verdict::kFits;
  }
  void Explain(model::NodeId n, std::vector<std::string>* reasons) const override {
    reasons->emplace_back(DiskInUse(n)
                              ? "node(s) had no available disk"
                              : "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
                                "already in-use by another pod");
  }

  int64_t Room(model::NodeId) const override {
    return std::ranges::any_of(disks_, [](const PodVolume& disk) { return Conflict(disk, disk); }) ? 1 : kAnyNumber;
  }
  Pods FollowsPods() const override { return exclusive_.empty() ? Pods::kNone : Pods::kAffine; }
  void PodChanged(const PodClass&, model::NodeId, int32_t, framework::Dirty& dirty) override {
    if (std::exchange(in_use_, InUse()) != in_use_) dirty.Everything();
  }

  // Upstream begins with the number of claims that are in use. In a trial it adds one for each use of them by a pod
  // that comes, and subtracts one for each use by a pod that leaves.
  void PodTried(const PodClass& other, model::NodeId, int32_t by, framework::Dirty&) override {
    for (const cluster::ClaimUse& use : other.claims)
      if (std::ranges::find(exclusive_, use.claim) != exclusive_.end()) tried_ += by;
  }

 private:
  int64_t InUse() const {
    return std::ranges::count_if(exclusive_,
                                 [&](const std::string& claim) { return snapshot_.storage().Users(claim) > 0; });
  }
  bool DiskInUse(model::NodeId n) const {
    if (disks_.empty()) return false;
    return std::ranges::any_of(snapshot_.node(n).with_volumes, [&](const PodClass* other) {
      const std::vector<PodVolume>& volumes = other->spec->volumes;
      return IsLookedAt(volumes) && std::ranges::any_of(volumes, [&](const PodVolume& theirs) {
               return std::ranges::any_of(disks_, [&](const PodVolume& mine) { return Conflict(mine, theirs); });
             });
    });
  }

  const cluster::Snapshot& snapshot_;
  std::string refusal_;
  std::vector<PodVolume> disks_;
  std::vector<std::string> exclusive_;  // claims of mode ReadWriteOncePod
  int64_t in_use_ = 0;                  // how many of them are in use
  int64_t tried_ = 0;                   // uses of them that came in a trial, less those that left
};

}  // namespace

std::unique_ptr<framework::FilterState> VolumeRestrictions::PrepareFilter(const PodClass& pod_class,
                                                                          const cluster::Snapshot& snapshot) const {
  if (pod_class.spec->volumes.empty()) return nullptr;
  auto state = std::make_unique<RestrictionsState>(pod_class, snapshot);
  if (state->idle()) return nullptr;
  return state;
}

}  // namespace tutti::plugins
