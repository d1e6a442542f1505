// SPDX-License-Identifier: Apache-2.0
// sim/controllers/stateful_set_controller.h - pods with ordinals, one after the other, or all at once where
// spec.podManagementPolicy is Parallel; a pod that ends or goes is replaced under the same name.
//
// Pods of an older template are replaced one by one, from the highest ordinal down, whatever spec.updateStrategy says.
// spec.volumeClaimTemplates are not followed.
#pragma once

#include "sim/store/controller.h"

namespace tutti::sim {

class StatefulSetController final : public Controller {
 public:
  StatefulSetController(Store& store, const base::Clock& clock) : Controller(store, clock) {}

  std::string_view name() const override { return "statefulset-controller"; }
  void Observe(const WatchEvent& event) override;

 private:
  void Reconcile(const ObjectKey& key) override;
  bool AddPod(const Json& set, int64_t ordinal, const std::string& revision);
  void RemovePod(const Json& set, const Json& pod);
  void WriteStatus(const Json& set, const std::string& revision);

  ObjectIndex pods_{kPods};  // by owner uid
};

}  // namespace tutti::sim
