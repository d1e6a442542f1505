// SPDX-License-Identifier: Apache-2.0
// sim/controllers/volume_controller.h - binds PersistentVolumes and claims to each other, as kube-controller-manager's
// controller does, and makes the volumes that a CSI driver's provisioner would make.
//
// A claim of a class that waits for its first consumer is left alone until a scheduler reserved a volume for it, or
// named the node. Volumes that are made can be reached from every node. Deleting a claim deletes its volume, or
// releases it, as the volume's reclaim policy says.
#pragma once

#include "sim/controllers/free_volumes.h"
#include "sim/store/controller.h"

namespace tutti::sim {

class VolumeController final : public Controller {
 public:
  VolumeController(Store& store, const base::Clock& clock) : Controller(store, clock) {}

  std::string_view name() const override { return "persistentvolume-binder"; }
  void Observe(const WatchEvent& event) override;

 private:
  void ObserveVolume(const Json& volume, bool gone);
  void ObserveClaim(const Json& claim, bool gone);
  // A key without namespace is a volume's; one of the namespace "/" a class's, for all claims that wait in it: many
  // volumes that come at once wake them once.
  void Reconcile(const ObjectKey& key) override;
  void ReconcileVolume(const ObjectKey& key);
  void ReconcileClaim(const ObjectKey& key);
  // The volume that the claim names, that is reserved for it, or, for a claim that does not wait, that is free.
  Object VolumeFor(const Json& claim, bool waits) const;
  void Provision(const Json& claim, const Json& storage_class);
  void Bind(const Json& claim, const Json& volume);
  void SetPhase(const GroupResource& resource, const Json& object, const char* phase);

  FreeVolumes free_;
  ObjectIndex reserved_{kVolumes};  // volumes by the claim that they are for
  ObjectIndex naming_{kClaims};     // claims by the volume that they name
  ObjectIndex waiting_{kClaims};    // claims that name none, by class
};

}  // namespace tutti::sim
