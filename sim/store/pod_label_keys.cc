// SPDX-License-Identifier: Apache-2.0
// matchLabelKeys and mismatchLabelKeys become part of their selectors when a pod is created (pkg/registry/core/pod
// strategy.go, applyMatchLabelKeysAndMismatchLabelKeys and applyMatchLabelKeys; for topology spread since 1.34).
#include <algorithm>

#include "sim/store/strategy.h"

namespace tutti::sim {
namespace {

// Nothing for a term without a selector, which selects nothing; nor for a value that is in it, as in a pod of a dump.
void Merge(const Json& labels, const Json& keys, const char* op, Json& term) {
  if (!Child(term, "labelSelector").is_object()) return;
  for (const Json& key : ArrayOf(keys)) {
    const Json& value = Child(labels, StringOf(key));
    if (!value.is_string()) continue;
    Json expression = {{"key", key}, {"operator", op}, {"values", {value}}};
    Json& expressions = term["labelSelector"]["matchExpressions"];
    if (!expressions.is_array()) expressions = Json::array();
    if (std::ranges::find(expressions, expression) == expressions.end()) expressions.push_back(std::move(expression));
  }
}

void MergeTerm(const Json& labels, Json& term) {
  const Json keys = Child(term, "matchLabelKeys"), others = Child(term, "mismatchLabelKeys");
  Merge(labels, keys, "In", term);
  Merge(labels, others, "NotIn", term);
}

}  // namespace

void MergeLabelKeys(Json& pod) {
  const Json labels = Dig(pod, "metadata", "labels");
  if (!labels.is_object() || !Child(pod, "spec").is_object()) return;
  Json& spec = pod["spec"];
  if (Child(spec, "affinity").is_object())
    for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
      if (!Dig(spec, "affinity", kind).is_object()) continue;
      Json& affinity = spec["affinity"][kind];
      if (Child(affinity, "requiredDuringSchedulingIgnoredDuringExecution").is_array())
        for (Json& term : affinity["requiredDuringSchedulingIgnoredDuringExecution"]) MergeTerm(labels, term);
      if (Child(affinity, "preferredDuringSchedulingIgnoredDuringExecution").is_array())
        for (Json& weighted : affinity["preferredDuringSchedulingIgnoredDuringExecution"])
          if (Child(weighted, "podAffinityTerm").is_object()) MergeTerm(labels, weighted["podAffinityTerm"]);
    }
  if (Child(spec, "topologySpreadConstraints").is_array())
    for (Json& constraint : spec["topologySpreadConstraints"])
      Merge(labels, Json(Child(constraint, "matchLabelKeys")), "In", constraint);
}

}  // namespace tutti::sim
