// SPDX-License-Identifier: Apache-2.0
// sim/controllers/deployment_controller.h - a ReplicaSet for each template; the present one's grows as the others
// shrink, within maxSurge and maxUnavailable, or after they are gone (Recreate).
//
// A Deployment whose replicas change during a rollout is not scaled in proportion, as the real controller does it.
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
  // The oldest first.
  std::vector<Object> SetsOf(const Json& deployment) const;
  // Returns whether there are pods left.
  bool TakeAway(const Json& deployment, const std::vector<Object>& old);
  bool GrowCurrent(const Json& deployment, const Json& current, const std::vector<Object>& old);
  // Takes pods that are not available first.
  void ShrinkOld(const Json& deployment, const Json& current, const std::vector<Object>& old);
  // Returns false if the set has that many replicas.
  bool Scale(const Json& deployment, const Json& set, int64_t replicas);
  // `current`: null: there is none yet.
  void WriteStatus(const Json& deployment, const Object& current);

  ObjectIndex sets_{kReplicaSets};  // by their Deployment's uid
};

}  // namespace tutti::sim
