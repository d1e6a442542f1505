// SPDX-License-Identifier: Apache-2.0
// sim/controllers/resource_quota_controller.h - the status of a ResourceQuota: what it limits, and what is used of it.
#pragma once

#include "sim/store/controller.h"

namespace tutti::sim {

class ResourceQuotaController final : public Controller {
 public:
  ResourceQuotaController(Store& store, const base::Clock& clock) : Controller(store, clock) {}

  std::string_view name() const override { return "resourcequota-controller"; }
  void Observe(const WatchEvent& event) override;

 private:
  void Reconcile(const ObjectKey& key) override;
};

}  // namespace tutti::sim
