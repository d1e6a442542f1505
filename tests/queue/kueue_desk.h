// SPDX-License-Identifier: Apache-2.0
// Short ways to write queues, flavors and asks, and admission with gangs by number.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "queue/policies/kueue/admission.h"
#include "tests/queue/build.h"

namespace tutti::queue {

inline model::CellQuota Quota(int64_t nominal, std::optional<int64_t> borrowing = {},
                              std::optional<int64_t> lending = {}) {
  return {nominal, borrowing, lending};
}

// Returns one group of the resource "gpu", with a quota for each flavor.
inline std::vector<model::ResourceGroup> Gpus(const std::vector<std::pair<std::string, model::CellQuota>>& flavors) {
  model::ResourceGroup group{{"gpu"}, {}};
  for (const auto& [flavor, quota] : flavors) group.flavors.push_back({flavor, {{"gpu", quota}}});
  return {group};
}

inline model::LeafQueueSpec Leaf(const std::string& name, const std::string& cohort, const model::CellQuota& quota) {
  model::LeafQueueSpec leaf;
  leaf.name = name;
  leaf.cohort = cohort;
  leaf.groups = Gpus({{"f", quota}});
  return leaf;
}

inline model::CohortSpec Cohort(const std::string& name, const std::string& parent, const model::CellQuota& quota) {
  return {name, parent, Gpus({{"f", quota}}), 1};
}

inline model::GangAsk AskFor(const std::string& local, int64_t gpus, int32_t priority = 0, base::Millis queued_ms = 1) {
  model::GangAsk ask;
  ask.ns = "ns";
  ask.local_queue = local;
  ask.priority = priority;
  ask.queued_ms = queued_ms;
  model::PodSpec pod;
  pod.requests = Gpu(1);
  ask.roles = {{"main", gpus, {}, pod, {}}};
  return ask;
}

// Admission with one flavor, f. Each leaf has a namespaced queue of the same name. Gangs are numbers.
struct Desk {
  KueueAdmission admission;
  base::Millis now = 1'000;

  explicit Desk(KueueRules rules = {}) : admission(std::move(rules)) {
    model::Flavor flavor;
    flavor.name = "f";
    admission.Put(flavor);
  }
  void Put(const model::LeafQueueSpec& leaf) {
    admission.Put(leaf);
    admission.Put(model::LocalQueueSpec{"ns", leaf.name, leaf.name}, true);
  }
  // Queue "a" has so many gpus of f, and of g. Gangs of lower priority leave for others there.
  void PutTwoFlavors(int64_t gpus) {
    model::Flavor flavor;
    flavor.name = "g";
    admission.Put(flavor);
    model::LeafQueueSpec leaf = Leaf("a", "", {});
    leaf.groups = Gpus({{"f", Quota(gpus)}, {"g", Quota(gpus)}});
    leaf.preemption.within_queue = model::PreemptionPolicy::kLowerPriority;
    Put(leaf);
  }
  void Wait(uint32_t gang, model::GangAsk ask) {
    ask.uid = std::to_string(gang);
    admission.Wait(model::GangId(gang), std::move(ask));
  }
  PassResult Run() { return admission.Run(++now); }
  bool Has(uint32_t gang) const { return admission.holding(model::GangId(gang)) != nullptr; }
  std::string Why(uint32_t gang) const { return admission.Explain(model::GangId(gang)).message; }
  void Forget(uint32_t gang) { admission.Forget(model::GangId(gang), ++now); }
};

}  // namespace tutti::queue
