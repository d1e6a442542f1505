// SPDX-License-Identifier: Apache-2.0
// pods/resize: what a running pod and its containers ask for, and nothing else, may change.
#include <fmt/format.h>

#include "sim/store/strategy.h"

namespace tutti::sim {
namespace {

bool MayChange(std::string_view resource) { return resource == "cpu" || resource == "memory"; }

// Without the amounts that a resize may change. Whether one is there at all counts as what is left.
Json WithoutAmounts(Json resources) {
  for (const char* list : {"requests", "limits"}) {
    const auto amounts = resources.find(list);
    if (amounts == resources.end() || !amounts->is_object()) continue;
    for (auto at = amounts->begin(); at != amounts->end();) at = MayChange(at.key()) ? amounts->erase(at) : ++at;
    if (amounts->empty()) resources.erase(list);
  }
  return resources;
}

bool OnlyAmounts(const Json& now, const Json& before) {
  return WithoutAmounts(Child(now, "resources")) == WithoutAmounts(Child(before, "resources"));
}

}  // namespace

void ValidateResize(const Json& pod, const Json& current, std::vector<FieldError>& errors) {
  const Json &spec = Child(pod, "spec"), &before = Child(current, "spec");
  if (!OnlyAmounts(spec, before))
    errors.push_back(ForbiddenField("spec.resources", "only cpu and memory resources are mutable"));
  Json rest = spec, rest_before = before;
  rest.erase("resources");
  rest_before.erase("resources");
  for (const char* list : kContainerLists) {
    const Json &now = ArrayOf(Child(spec, list)), &then = ArrayOf(Child(before, list));
    for (size_t i = 0; i < std::min(now.size(), then.size()); ++i) {
      const std::string at = fmt::format("spec.{}[{}].resources", list, i);
      const bool runs = list == std::string_view("containers") || DigString(now[i], "restartPolicy") == "Always";
      if (!OnlyAmounts(now[i], then[i]))
        errors.push_back(ForbiddenField(at, "only cpu and memory resources are mutable"));
      else if (!runs && Child(now[i], "resources") != Child(then[i], "resources"))
        errors.push_back(ForbiddenField(at, "resources for non-sidecar init containers are immutable"));
      rest[list][i].erase("resources");
      rest_before[list][i].erase("resources");
    }
  }
  if (rest != rest_before)
    errors.push_back(ForbiddenField("spec", "only cpu and memory resources of containers are mutable"));
  const std::string &had = DigString(current, "status", "qosClass"), is = QosClass(spec);
  if (!had.empty() && had != is)
    errors.push_back(InvalidField("status.qosClass", is, "Pod QOS Class may not change as a result of resizing"));
}

}  // namespace tutti::sim
