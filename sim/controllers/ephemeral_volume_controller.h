// SPDX-License-Identifier: Apache-2.0
// sim/controllers/ephemeral_volume_controller.h - makes the claims of generic ephemeral volumes, each owned by its pod,
// as kube-controller-manager's controller does. A claim of that name which is not the pod's stays as it is.
#pragma once

#include "sim/store/controller.h"

namespace tutti::sim {

class EphemeralVolumeController final : public Controller {
 public:
  EphemeralVolumeController(Store& store, const base::Clock& clock) : Controller(store, clock) {}

  std::string_view name() const override { return "ephemeral-volume-controller"; }
  void Observe(const WatchEvent& event) override;

 private:
  void Reconcile(const ObjectKey& key) override;
};

}  // namespace tutti::sim
