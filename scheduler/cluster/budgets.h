// SPDX-License-Identifier: Apache-2.0
// Budgets: the PodDisruptionBudgets, by the pods that they protect. One thread.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/disruption_budget.h"
#include "model/object.h"
#include "model/pod.h"

namespace tutti::cluster {

class Budgets {
 public:
  // The kind as a feed is asked for it.
  static const model::ObjectKind& Kind();

  // Decodes the object and keeps it. What cannot be read is left at its default, with a line in `problems`.
  void Put(const model::Object& object, std::vector<std::string>* problems);
  // Says why a budget that can be read protects no pod: it has no selector. Empty: it has one.
  static std::string WhyUseless(const model::Object& object);
  void Drop(const std::string& ns, const std::string& name);

  // Changes with every budget that comes, goes, or is another one. A budget's address is valid until then.
  uint64_t version() const { return version_; }
  bool empty() const { return by_ns_.empty(); }
  // Appends the budgets that an eviction of the pod takes from: those that select it and have not counted it yet.
  void ThatProtect(const model::Pod& pod, std::vector<const model::DisruptionBudget*>* budgets) const;

 private:
  using ByName = std::map<std::string, model::DisruptionBudget>;

  absl::flat_hash_map<std::string, ByName> by_ns_;
  uint64_t version_ = 0;
};

}  // namespace tutti::cluster
