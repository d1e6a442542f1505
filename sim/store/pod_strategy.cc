// SPDX-License-Identifier: Apache-2.0
// A new pod: the priority that admission computes, its quality of service, its first status.
#include <fmt/format.h>

#include "base/json_string.h"
#include "sim/objects/quantity_text.h"
#include "sim/store/admission_defaults.h"
#include "sim/store/strategy.h"

namespace tutti::sim {
namespace {

Object GlobalDefaultPriority(const Store& store) {
  for (const Object& each : store.All(kPriorityClasses)) {
    if (BoolOf(Child(*each, "globalDefault"))) return each;
  }
  return nullptr;
}

ApiResult<void> ResolvePriority(const Store& store, Json& pod, bool restore) {
  Json& spec = pod["spec"];
  const std::string name = DigString(spec, "priorityClassName");
  const Object cls = name.empty() ? GlobalDefaultPriority(store) : store.Find(kPriorityClasses, "", name);
  if (cls && name.empty()) spec["priorityClassName"] = NameOf(*cls);
  if (!cls && !name.empty()) {
    // A dump of pods alone still carries the number its cluster computed.
    if (restore && Child(spec, "priority").is_number_integer()) return {};
    return tl::make_unexpected(
        Forbidden(kPods, NameOf(pod), fmt::format("no PriorityClass with name {} was found", name)));
  }
  const int64_t priority = cls ? IntOf(Child(*cls, "value")) : 0;
  if (const Json& given = Child(spec, "priority"); !restore && given.is_number_integer() && given != priority) {
    return tl::make_unexpected(
        Forbidden(kPods, NameOf(pod),
                  fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority admission "
                              "controller computed {} from the given PriorityClass name",
                              base::PrintJson(given), priority)));
  }
  if (!restore || !Child(spec, "priority").is_number_integer()) spec["priority"] = priority;
  const std::string& preemption = cls ? DigString(*cls, "preemptionPolicy") : "";
  SetDefault(spec, "preemptionPolicy", preemption.empty() ? "PreemptLowerPriority" : preemption);
  return {};
}

ApiResult<void> AdmitSpec(const Store& store, Json& pod, bool restore) {
  DefaultPod(pod);
  // A bound pod of a dump may be older than its namespace's limits.
  if (!restore || DigString(pod, "spec", "nodeName").empty()) AddDefaultLimits(store, pod);
  return ResolvePriority(store, pod, restore);
}

}  // namespace

std::string QosClass(const Json& spec) {
  bool any = false, guaranteed = true;
  const auto count = [&](const Json& resources) {
    for (const char* name : {"cpu", "memory"}) {
      const std::string& request = DigString(resources, "requests", name);
      const std::string& limit = DigString(resources, "limits", name);
      const bool asks = !request.empty() && request != "0";
      const bool bounded = !limit.empty() && limit != "0";
      any = any || asks || bounded;
      guaranteed = guaranteed && bounded && (!asks || CompareQuantities(request, limit) == 0);
    }
  };
  if (const Json& of_pod = Child(spec, "resources"); of_pod.is_object() && !of_pod.empty()) {
    count(of_pod);
  } else {
    for (const char* list : {"initContainers", "containers"}) {
      for (const Json& container : ArrayOf(Child(spec, list))) count(Child(container, "resources"));
    }
  }
  return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

ApiResult<void> PreparePod(const Store& store, PodTemplates& templates, Json& pod, bool keep_status) {
  const bool of_template = base::IsFrozen(Child(pod, "spec"));
  Json given = of_template ? Child(pod, "spec") : Json();
  const PodTemplates::Admitted* known = of_template ? templates.Find(given, NamespaceOf(pod), keep_status) : nullptr;
  std::string qos_class;
  if (known != nullptr) {
    pod["spec"] = known->spec;
    qos_class = known->qos_class;
  } else {
    if (auto ready = AdmitSpec(store, pod, keep_status); !ready) return ready;
    qos_class = QosClass(Child(pod, "spec"));
    if (of_template) {
      Json spec = std::move(pod["spec"]);
      base::Freeze(spec);
      pod["spec"] = spec;
      templates.Put({std::move(given), NamespaceOf(pod), keep_status, std::move(spec), qos_class});
    }
  }
  MergeLabelKeys(pod);
  Json& status = pod["status"];
  const Json& spec = Child(pod, "spec");
  if (!keep_status || !status.is_object()) status = Json::object();
  SetDefault(status, "phase", "Pending");
  SetDefault(status, "qosClass", std::move(qos_class));
  if (!Child(spec, "schedulingGates").empty() && ConditionOf(pod, "PodScheduled").is_null()) {
    SetCondition(
        pod, {"PodScheduled", "False", "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates"},
        store.now_ms());
  }
  return {};
}

}  // namespace tutti::sim
