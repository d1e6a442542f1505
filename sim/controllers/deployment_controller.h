// SPDX-License-Identifier: Apache-2.0
// sim/controllers/deployment_controller.h - a ReplicaSet per template; the newest gets all replicas, the others none.
//
// A rollout happens in one step: maxSurge and maxUnavailable are not followed.
#pragma once

#include "sim/store/controller.h"

namespace tutti::sim {

class DeploymentController final : public Controller {
 public:
  DeploymentController(Store& store, const base::Clock& clock) : Controller(store, clock) {}

  std::string_view name() const override { return "deployment-controller"; }
  void Observe(const WatchEvent& event) override;

 private:
  void Reconcile(const ObjectKey& key) override;
  void WriteStatus(const Json& deployment, const std::string& newest);

  ObjectIndex sets_{kReplicaSets};  // by their Deployment's uid
};

}  // namespace tutti::sim
