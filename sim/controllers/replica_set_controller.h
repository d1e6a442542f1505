// SPDX-License-Identifier: Apache-2.0
// sim/controllers/replica_set_controller.h - as many pods as spec.replicas says; a pod that ends or goes is replaced.
#pragma once

#include "sim/store/controller.h"

namespace tutti::sim {

class ReplicaSetController final : public Controller {
 public:
  ReplicaSetController(Store& store, const base::Clock& clock) : Controller(store, clock) {}

  std::string_view name() const override { return "replicaset-controller"; }
  void Observe(const WatchEvent& event) override;

 private:
  void Reconcile(const ObjectKey& key) override;
  void AddPods(const Json& set, int64_t count);
  void RemovePods(const Json& set, std::vector<Object> active, int64_t count);
  void WriteStatus(const Json& set);

  ObjectIndex pods_{kPods};  // by owner uid
};

}  // namespace tutti::sim
