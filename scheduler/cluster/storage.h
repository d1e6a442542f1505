// SPDX-License-Identifier: Apache-2.0
// Storage: the volumes, claims and what else says where a volume can be had; with what placed pods hold of it beyond
// what the API server knows yet.
//
// A pod that is placed takes volumes for its claims that are still open (VolumePick): to every other reader such a
// volume is reserved for that claim, and such a claim is on its way, until the pod is removed. What the objects
// themselves say comes before what is taken.
//
// `version` changes with every object, not with what is taken. One thread: the snapshot's.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/takings.h"
#include "model/ids.h"
#include "model/object.h"
#include "model/storage.h"

namespace tutti::cluster {

// The kinds that Storage is made of, as a feed is asked for them.
const std::vector<model::ObjectKind>& StorageKinds();

class Storage {
 public:
  // What an object's change means to pods that wait.
  enum class Change {
    kNothing,
    kClaim,   // `claim` came, went, or changed
    kVolume,  // a PersistentVolume or StorageClass came, went, or changed; `claim`: which one the volume is for, if any
    kDriver,  // a CSINode, CSIDriver or CSIStorageCapacity came, went, or changed, or a VolumeAttachment went
  };
  struct Applied {
    Change change = Change::kNothing;
    std::string claim;  // "namespace/name"
  };
  // REQUIRES: its kind is one of StorageKinds.
  Applied Put(const model::Object& object, std::vector<std::string>* problems);
  Applied Drop(const std::string& resource, const std::string& ns, const std::string& name);

  uint64_t version() const { return version_; }

  template <typename T>
  using ByName = std::map<std::string, std::shared_ptr<const T>>;  // sorted, so that ties break alike in every run
  const ByName<model::Claim>& claims() const { return claims_; }   // by "namespace/name"
  const ByName<model::Volume>& volumes() const { return volumes_; }
  const ByName<model::StorageClass>& classes() const { return classes_; }
  const ByName<model::CsiNode>& csi_nodes() const { return csi_nodes_; }
  const ByName<model::CsiDriver>& csi_drivers() const { return csi_drivers_; }
  const ByName<model::StorageCapacity>& capacities() const { return capacities_; }
  const ByName<model::VolumeAttachment>& attachments() const { return attachments_; }

  // null: none of that name.
  template <typename T>
  static const T* Find(const ByName<T>& map, const std::string& name) {
    const auto at = map.find(name);
    return at == map.end() ? nullptr : at->second.get();
  }

  // What placed pods hold. A claim may be held by several, which agree.
  struct Taken {
    std::string volume;  // as in VolumePick
    model::NodeId node;
    int32_t pods = 0;
  };
  const Taken* TakenFor(const std::string& claim) const;        // null: no pod has
  const std::string* TakerOf(const std::string& volume) const;  // the claim; null: it is free
  uint64_t taken_version() const { return taken_version_; }     // changes with any of that
  // Placed pods that use the claim.
  int32_t Users(const std::string& claim) const;

  // -- Mutators, for Snapshot. --
  void Take(const VolumePick& pick, model::NodeId node);
  void GiveBack(const VolumePick& pick);
  void CountUser(const std::string& claim, int32_t by);

 private:
  ByName<model::Claim> claims_;
  ByName<model::Volume> volumes_;
  ByName<model::StorageClass> classes_;
  ByName<model::CsiNode> csi_nodes_;
  ByName<model::CsiDriver> csi_drivers_;
  ByName<model::StorageCapacity> capacities_;  // by "namespace/name"
  ByName<model::VolumeAttachment> attachments_;
  uint64_t version_ = 0;

  uint64_t taken_version_ = 0;
  absl::flat_hash_map<std::string, Taken> taken_;           // by claim
  absl::flat_hash_map<std::string, std::string> taken_by_;  // by volume: the claim
  absl::flat_hash_map<std::string, int32_t> users_;         // by claim
};

}  // namespace tutti::cluster
