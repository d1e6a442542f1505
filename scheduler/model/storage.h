// SPDX-License-Identifier: Apache-2.0
// Storage: the objects that say which volumes there are and who may use them where, reduced to what scheduling needs.
// Sizes are in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/object_meta.h"
#include "model/selector.h"

namespace tutti::model {

// Annotations that the volume controller, provisioners and schedulers leave for each other.
inline constexpr const char* kSelectedNode = "volume.kubernetes.io/selected-node";
inline constexpr const char* kBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr const char* kBoundByController = "pv.kubernetes.io/bound-by-controller";
// The provisioner of a StorageClass whose volumes are made by hand.
inline constexpr const char* kNoProvisioner = "kubernetes.io/no-provisioner";

// PersistentVolumeClaim.
struct Claim {
  ObjectMeta meta;
  std::string storage_class;  // the beta annotation before spec.storageClassName, as upstream reads it; empty: none
  std::vector<std::string> access_modes;
  std::optional<int64_t> size;  // spec.resources.requests.storage
  std::optional<LabelSelector> selector;
  std::string volume_mode = "Filesystem";
  std::string attributes_class;              // spec.volumeAttributesClassName
  std::string volume;                        // spec.volumeName: the PersistentVolume it has, or is to have
  bool bind_completed = false;               // kBindCompleted
  std::optional<std::string> selected_node;  // kSelectedNode
  bool lost = false;                         // status.phase

  // Nothing about its volume is open any more.
  bool bound() const { return !volume.empty() && bind_completed; }
  bool HasMode(std::string_view mode) const;
};

// The claim that a PersistentVolume is bound to, or reserved for.
struct ClaimReference {
  std::string ns, name;
  std::string uid;  // empty: whichever claim of that name
  bool Means(const Claim& claim) const {
    return name == claim.meta.name && ns == claim.meta.ns && (uid.empty() || uid == claim.meta.uid);
  }
  friend bool operator==(const ClaimReference&, const ClaimReference&) = default;
};

// A disk as a CSI driver counts it: the driver, and the disk's name there. Empty: no CSI driver has it.
struct CsiDisk {
  std::string driver, handle;
  friend bool operator==(const CsiDisk&, const CsiDisk&) = default;
};

// PersistentVolume.
struct Volume {
  ObjectMeta meta;
  std::string storage_class;  // as of Claim
  std::vector<std::string> access_modes;
  int64_t size = 0;  // spec.capacity.storage
  std::string volume_mode = "Filesystem";
  std::string attributes_class;
  std::optional<ClaimReference> claim;
  std::optional<NodeSelector> node_affinity;  // spec.nodeAffinity.required
  bool available = false;                     // status.phase is Available, or not said
  CsiDisk disk;                               // of spec.csi, or of an in-tree source whose driver has moved to CSI
  bool in_tree = false;                       // the latter
};

struct StorageClass {
  ObjectMeta meta;
  std::string provisioner;
  bool waits_for_consumer = false;  // volumeBindingMode: WaitForFirstConsumer
  // allowedTopologies: terms are ORed, within one all must hold, and an empty term matches nothing. None: any node.
  std::vector<std::vector<Requirement>> topologies;
};

struct CsiNode {
  struct Driver {
    std::string name;
    std::optional<int64_t> limit;  // allocatable.count: volumes on this node; absent: no limit
    friend bool operator==(const Driver&, const Driver&) = default;
  };
  ObjectMeta meta;
  std::vector<Driver> drivers;
};

struct CsiDriver {
  ObjectMeta meta;
  bool counts_capacity = false;  // spec.storageCapacity
};

// CSIStorageCapacity.
struct StorageCapacity {
  ObjectMeta meta;
  std::string storage_class;
  std::optional<LabelSelector> nodes;  // nodeTopology; absent: no node reaches it
  std::optional<int64_t> largest;      // maximumVolumeSize, else capacity: what one volume may have
};

struct VolumeAttachment {
  ObjectMeta meta;
  std::string driver;  // spec.attacher
  std::string node, volume;
};

// The disk `id` of an in-tree source ("gcePersistentDisk") as the CSI driver counts it that serves such disks since
// their code moved out of Kubernetes; empty for sources that did not move, or are not counted
// (k8s.io/csi-translation-lib). `zone`: of the PersistentVolume's label; it is part of the name of a GCE disk.
CsiDisk MovedDisk(std::string_view in_tree_source, const std::string& id, const std::string& zone);
// The driver that provisions for `provisioner`: another one for in-tree provisioners that moved, empty if not counted.
std::string_view CsiDriverOfProvisioner(std::string_view provisioner);

}  // namespace tutti::model
