// SPDX-License-Identifier: Apache-2.0
#include "sim/api/without_effect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/store/hold.h"

namespace tutti::sim {
namespace {

// Pods, and those whose controller the embedded cluster has.
constexpr std::array<std::string_view, 7> kWorkedOff = {"Pod", "Deployment", "ReplicaSet", "StatefulSet",
                                                        "Job", "RayCluster", "RayJob"};
// Kinds that are kept and shown but change nothing here, and what they would have changed.
constexpr std::pair<std::string_view, std::string_view> kOnlyKept[] = {
    {"HorizontalPodAutoscaler", "replicas stay as they are written"},
    {"RuntimeClass", "its overhead and its nodes are not added to pods"},
    {"ValidatingAdmissionPolicy", "nothing is refused by it"},
    {"MutatingAdmissionPolicy", "nothing is changed by it"},
    {"ValidatingWebhookConfiguration", "it is not called"},
    {"MutatingWebhookConfiguration", "it is not called"}};

// Calls `look` with each spec of pods in it, until one answers true.
template <class Look>
bool AnyPodSpec(const Json& value, const Look& look) {
  if (value.is_array()) return std::ranges::any_of(value, [&](const Json& one) { return AnyPodSpec(one, look); });
  if (!value.is_object()) return false;
  if (Child(value, "containers").is_array()) return look(value);
  for (const auto& [key, item] : value.items()) {
    if (AnyPodSpec(item, look)) return true;
  }
  return false;
}

// Kinds that hold templates of pods and never make any.
constexpr std::array<std::string_view, 2> kOnlyDescribe = {"Workload", "PodTemplate"};

// Whether no controller has to make its pods: the scheduler makes those of an AppWrapper.
bool NeedsNoController(const ApiResource& resource, bool has_scheduler) {
  return (resource.kind == "AppWrapper" && has_scheduler) ||
         std::ranges::find(kOnlyDescribe, resource.kind) != kOnlyDescribe.end();
}

bool IsWorkedOff(const ApiResource& resource) {
  return std::ranges::find(kWorkedOff, resource.kind) != kWorkedOff.end() && resource.id.group != "batch.volcano.sh";
}

std::string OnlyKept(const ApiResource& resource, const Json& object) {
  const auto* found = std::ranges::find(kOnlyKept, resource.kind, [](const auto& one) { return one.first; });
  if (resource.custom || found == std::end(kOnlyKept)) return "";
  const bool is_class = resource.kind == "RuntimeClass";
  if (IsHoldPolicy(NameOf(object))) return "";
  if (is_class && Child(object, "overhead").empty() && Child(object, "scheduling").empty()) return "";
  return fmt::format("the kind {} has no effect in the embedded cluster: {}", found->first, found->second);
}

// Those of Kubernetes itself come and go with the node's state, and their pods with them.
bool HasEvictingTaint(const Json& node) {
  return std::ranges::any_of(ArrayOf(Dig(node, "spec", "taints")), [](const Json& taint) {
    return DigString(taint, "effect") == "NoExecute" && !DigString(taint, "key").starts_with("node.kubernetes.io/");
  });
}

// The first amount of memory in it that is a fraction of a byte, such as "512m"; or empty.
std::string MilliBytes(const Json& spec) {
  std::string found;
  AnyPodSpec(spec, [&](const Json& pod) {
    for (const Json& container : ArrayOf(Child(pod, "containers")))
      for (const char* list : {"requests", "limits"})
        if (const std::string& amount = DigString(container, "resources", list, "memory"); amount.ends_with('m'))
          found = amount;
    return !found.empty();
  });
  return found;
}

// The first schedulerName in it that is not served, or empty.
std::string Unserved(const Json& spec, const std::vector<std::string>& served) {
  std::string name;
  AnyPodSpec(spec, [&](const Json& pod) {
    name = DigString(pod, "schedulerName");
    if (name.empty()) name = "default-scheduler";
    if (std::ranges::count(served, name) > 0) name.clear();
    return !name.empty();
  });
  return name;
}

}  // namespace

std::vector<std::string> WithoutEffect(const ApiResource& resource, const Json& object,
                                       const std::vector<std::string>& scheduler_names) {
  std::vector<std::string> lines;
  const Json& spec = Child(object, "spec");
  const bool is_worked_off = IsWorkedOff(resource);
  if (!is_worked_off && !NeedsNoController(resource, !scheduler_names.empty()) &&
      AnyPodSpec(spec, [](const Json&) { return true; })) {
    lines.push_back(
        fmt::format("the embedded cluster has no controller for the kind {}: no pods are made", resource.kind));
  }
  if (std::string line = OnlyKept(resource, object); !line.empty()) lines.push_back(std::move(line));
  if (is_worked_off && Child(spec, "suspend") == true && LabelOf(object, kQueueNameLabel).empty())
    lines.push_back(
        fmt::format("spec.suspend of a {} is true: no pods are made until it is made false", resource.kind));
  if (resource.id == kNodes && HasEvictingTaint(object))
    lines.emplace_back("the embedded cluster evicts no pod for a taint with effect NoExecute; it keeps new ones away");
  if (const std::string amount = MilliBytes(spec); !amount.empty()) {
    const std::string number = amount.substr(0, amount.size() - 1);
    lines.push_back(
        fmt::format("memory {} is {} thousandths of a byte; {}Mi or {}M may be meant", amount, number, number, number));
  }
  if (const std::string& text = AnnotationOf(object, "volcano.sh/task-priority");
      text.find_first_not_of("+-0123456789") != std::string::npos)
    lines.push_back(fmt::format(
        "annotation volcano.sh/task-priority: {} is no whole number, so the pod's own priority counts", text));
  if (!is_worked_off || scheduler_names.empty() || !DigString(spec, "nodeName").empty()) return lines;
  if (const std::string name = Unserved(spec, scheduler_names); !name.empty())
    lines.push_back(
        fmt::format("no scheduler here serves the schedulerName {}, so such pods stay Pending; served are {}", name,
                    fmt::join(scheduler_names, ", ")));
  return lines;
}

}  // namespace tutti::sim
