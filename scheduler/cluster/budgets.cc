// SPDX-License-Identifier: Apache-2.0
#include "cluster/budgets.h"

#include <algorithm>

#include "base/json.h"
#include "cluster/json_reader.h"

namespace tutti::cluster {
namespace {

using model::DisruptionBudget;
using model::StringMap;

model::DisruptionBudget Decode(const model::Object& object, std::vector<std::string>* problems) {
  JsonReader read;
  const JsonField root(*object.body), spec = root["spec"], status = root["status"];
  DisruptionBudget budget;
  budget.ns = object.meta.ns;
  budget.name = object.meta.name;
  budget.selector = read.Selector(spec["selector"]);
  budget.allowed = read.Integer(status["disruptionsAllowed"], 0);
  read.Values(status["disruptedPods"],
              [&](std::string_view name, const JsonField&) { budget.disrupted.emplace_back(name); });
  std::ranges::sort(budget.disrupted);
  *problems = read.TakeProblems();
  return budget;
}

}  // namespace

const model::ObjectKind& Budgets::Kind() {
  static const model::ObjectKind kind{"policy", "poddisruptionbudgets", "PodDisruptionBudget", {"v1"}};
  return kind;
}

std::string Budgets::WhyUseless(const model::Object& object) {
  JsonReader read;
  const JsonField root(*object.body), spec = root["spec"], selector = spec["selector"];
  if (selector.present()) return {};
  read.Problem(selector, "is missing, so the budget protects no pod; write one");
  return read.problem();
}

void Budgets::Put(const model::Object& object, std::vector<std::string>* problems) {
  DisruptionBudget budget = Decode(object, problems);
  if (budget.selector && !CanSelect(*budget.selector)) budget.selector.reset();
  DisruptionBudget& known = by_ns_[budget.ns][budget.name];
  if (known == budget) return;
  known = std::move(budget);
  ++version_;
}

void Budgets::Drop(const std::string& ns, const std::string& name) {
  const auto at = by_ns_.find(ns);
  if (at == by_ns_.end() || at->second.erase(name) == 0) return;
  if (at->second.empty()) by_ns_.erase(at);
  ++version_;
}

void Budgets::ThatProtect(const model::Pod& pod, std::vector<const DisruptionBudget*>* budgets) const {
  const auto at = by_ns_.find(pod.meta.ns);
  const StringMap& labels = pod.meta.labels;
  if (at == by_ns_.end() || labels.empty()) return;
  for (const auto& [name, budget] : at->second)
    if (budget.selector && Selects(*budget.selector, labels) &&
        !std::ranges::binary_search(budget.disrupted, pod.meta.name))
      budgets->push_back(&budget);
}

}  // namespace tutti::cluster
