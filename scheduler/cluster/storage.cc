// SPDX-License-Identifier: Apache-2.0
#include "cluster/storage.h"

#include <algorithm>

#include "base/check.h"
#include "cluster/storage_decode.h"

namespace tutti::cluster {
namespace {

constexpr const char* kGroup = "storage.k8s.io";

std::string KeyOf(const std::string& ns, const std::string& name) { return ns.empty() ? name : ns + "/" + name; }

std::string ClaimOf(const model::Volume* volume) {
  return volume && volume->claim ? KeyOf(volume->claim->ns, volume->claim->name) : std::string();
}

}  // namespace

const std::vector<model::ObjectKind>& StorageKinds() {
  static const std::vector<model::ObjectKind> kinds = {
      {"", "persistentvolumeclaims", "PersistentVolumeClaim", {"v1"}},
      {"", "persistentvolumes", "PersistentVolume", {"v1"}},
      {kGroup, "storageclasses", "StorageClass", {"v1"}},
      {kGroup, "csinodes", "CSINode", {"v1"}},
      {kGroup, "csidrivers", "CSIDriver", {"v1"}},
      {kGroup, "csistoragecapacities", "CSIStorageCapacity", {"v1"}},
      {kGroup, "volumeattachments", "VolumeAttachment", {"v1"}},
  };
  return kinds;
}

Storage::Applied Storage::Put(const model::Object& object, std::vector<std::string>* problems) {
  ++version_;
  const std::string key = KeyOf(object.meta.ns, object.meta.name);
  if (object.resource == "persistentvolumeclaims") {
    claims_[key] = DecodeClaim(object, problems);
    return {Change::kClaim, key};
  }
  if (object.resource == "persistentvolumes") {
    auto& volume = volumes_[key];
    volume = DecodeVolume(object, problems);
    return {Change::kVolume, ClaimOf(volume.get())};
  }
  if (object.resource == "storageclasses") {
    classes_[key] = DecodeStorageClass(object, problems);
    return {Change::kVolume, ""};
  }
  if (object.resource == "volumeattachments") {
    attachments_[key] = DecodeVolumeAttachment(object, problems);
    return {};
  }
  if (object.resource == "csinodes")
    csi_nodes_[key] = DecodeCsiNode(object, problems);
  else if (object.resource == "csidrivers")
    csi_drivers_[key] = DecodeCsiDriver(object, problems);
  else if (object.resource == "csistoragecapacities")
    capacities_[key] = DecodeStorageCapacity(object, problems);
  return {Change::kDriver, ""};
}

Storage::Applied Storage::Drop(const std::string& resource, const std::string& ns, const std::string& name) {
  ++version_;
  const std::string key = KeyOf(ns, name);
  if (resource == "persistentvolumeclaims") {
    claims_.erase(key);
    return {Change::kClaim, key};
  }
  if (resource == "persistentvolumes") {
    const std::string claim = ClaimOf(Find(volumes_, key));
    volumes_.erase(key);
    return {Change::kVolume, claim};
  }
  // With these go limits: of what an attachment holds, of a node's volumes, of a driver's room.
  if (resource == "volumeattachments" && attachments_.erase(key) > 0) return {Change::kDriver, ""};
  if (resource == "csinodes" && csi_nodes_.erase(key) > 0) return {Change::kDriver, ""};
  if (resource == "csidrivers" && csi_drivers_.erase(key) > 0) return {Change::kDriver, ""};
  // These make nothing possible, but what waits for them says how many nodes they would do for.
  if (resource == "storageclasses" && classes_.erase(key) > 0) return {Change::kVolume, ""};
  if (resource == "csistoragecapacities" && capacities_.erase(key) > 0) return {Change::kDriver, ""};
  return {};
}

const Storage::Taken* Storage::TakenFor(const std::string& claim) const {
  const auto at = taken_.find(claim);
  return at == taken_.end() ? nullptr : &at->second;
}

const std::string* Storage::TakerOf(const std::string& volume) const {
  const auto at = taken_by_.find(volume);
  return at == taken_by_.end() ? nullptr : &at->second;
}

int32_t Storage::Users(const std::string& claim) const {
  const auto at = users_.find(claim);
  return at == users_.end() ? 0 : at->second;
}

void Storage::Take(const VolumePick& pick, model::NodeId node) {
  ++taken_version_;
  Taken& taken = taken_[pick.claim];
  if (taken.pods++ > 0) return;
  taken.volume = pick.volume;
  taken.node = node;
  if (!pick.volume.empty()) taken_by_[pick.volume] = pick.claim;
}

void Storage::GiveBack(const VolumePick& pick) {
  const auto at = taken_.find(pick.claim);
  TUTTI_CHECK(at != taken_.end(), "a volume is given back by the pod that took it");
  ++taken_version_;
  if (--at->second.pods > 0) return;
  if (!at->second.volume.empty()) taken_by_.erase(at->second.volume);
  taken_.erase(at);
}

void Storage::CountUser(const std::string& claim, int32_t by) {
  const auto at = users_.try_emplace(claim, 0).first;
  at->second += by;
  TUTTI_CHECK(at->second >= 0, "a claim's users are counted");
  if (at->second == 0) users_.erase(at);
}

}  // namespace tutti::cluster
