// SPDX-License-Identifier: Apache-2.0
#include "sim/controllers/resource_quota_controller.h"

namespace tutti::sim {

void ResourceQuotaController::Observe(const WatchEvent& event) {
  const std::string& ns = NamespaceOf(*event.object);
  if (!store_.quotas().Has(ns)) return;
  store_.ForEach(kResourceQuotas, [&](const Store::Key& key, const Object&) {
    if (key.first == ns) Enqueue({key.first, key.second});
  });
}

void ResourceQuotaController::Reconcile(const ObjectKey& key) {
  const Object quota = store_.Find(kResourceQuotas, key.ns, key.name);
  if (!quota) return;
  const Json status = {{"hard", MapOf(Dig(*quota, "spec", "hard"))}, {"used", store_.quotas().Used(key.ns, key.name)}};
  if (Child(*quota, "status") == status) return;
  const auto written =
      store_.Modify(kResourceQuotas, key.ns, key.name, [&](Json& object) { object["status"] = status; }, Part::kStatus);
  if (!written) RetryLater(key);
}

}  // namespace tutti::sim
