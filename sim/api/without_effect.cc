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
constexpr std::array<std::string_view, 6> kWorkedOff = {"Pod", "Deployment", "ReplicaSet",
                                                        "Job", "RayCluster", "RayJob"};
// Kinds that are kept and shown but change nothing here, and what they would have changed.
constexpr std::pair<std::string_view, std::string_view> kOnlyKept[] = {
    {"ResourceQuota", "what exceeds it is not refused"},
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
  if (!is_worked_off && AnyPodSpec(spec, [](const Json&) { return true; })) {
    lines.push_back(
        fmt::format("the embedded cluster has no controller for the kind {}: no pods are made", resource.kind));
  }
  if (std::string line = OnlyKept(resource, object); !line.empty()) lines.push_back(std::move(line));
  if (is_worked_off && Child(spec, "suspend") == true && LabelOf(object, kQueueNameLabel).empty())
    lines.push_back(
        fmt::format("spec.suspend of a {} is true: no pods are made until it is made false", resource.kind));
  if (resource.id == kNodes && HasEvictingTaint(object))
    lines.emplace_back("the embedded cluster evicts no pod for a taint with effect NoExecute; it keeps new ones away");
  if (!is_worked_off || scheduler_names.empty()) return lines;
  if (const std::string name = Unserved(spec, scheduler_names); !name.empty())
    lines.push_back(
        fmt::format("no scheduler here serves the schedulerName {}, so such pods stay Pending; served are {}", name,
                    fmt::join(scheduler_names, ", ")));
  return lines;
}

}  // namespace tutti::sim
