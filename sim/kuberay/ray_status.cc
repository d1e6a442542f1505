// SPDX-License-Identifier: Apache-2.0
#include "sim/kuberay/ray_status.h"

#include <algorithm>

#include "base/json_string.h"
#include "sim/kuberay/ray_names.h"
#include "sim/kuberay/ray_sizes.h"
#include "sim/objects/quantity_text.h"
#include "sim/store/controller.h"

namespace tutti::sim::ray {
namespace {

constexpr const char* kProvisioned = "RayClusterProvisioned";
constexpr const char* kHeadPodReady = "HeadPodReady";
constexpr const char* kReplicaFailure = "ReplicaFailure";
constexpr const char* kSuspending = "RayClusterSuspending";
constexpr const char* kSuspended = "RayClusterSuspended";
constexpr const char* kProvisioning = "RayClusterPodsProvisioning";

// A metav1.Condition: reason and message are always there.
void SetRayCondition(Json& cluster, const Condition& condition, base::Millis now_ms) {
  SetCondition(cluster, condition, now_ms);
  for (Json& each : cluster["status"]["conditions"]) {
    if (DigString(each, "type") == condition.type && !each.contains("message")) each["message"] = "";
  }
}

void RemoveCondition(Json& cluster, const char* type) {
  Json& conditions = cluster["status"]["conditions"];
  if (!conditions.is_array()) return;
  Json kept = Json::array();
  for (Json& each : conditions) {
    if (DigString(each, "type") != type) kept.push_back(std::move(each));
  }
  conditions = std::move(kept);
}

Object OnlyHead(const std::vector<Object>& pods) {
  Object head;
  for (const Object& pod : pods) {
    if (LabelOf(*pod, kNodeTypeLabel) == kHead) head = pod;
  }
  return head;
}

Condition HeadCondition(const Object& head) {
  if (!head) return {kHeadPodReady, "False", "HeadPodNotFound", "Head Pod not found"};
  const Json& ready = ConditionOf(*head, "Ready");
  if (ready.is_null()) return {kHeadPodReady, "False", "Unknown", ""};
  std::string reason = DigString(ready, "reason");
  if (reason.empty()) reason = DigString(ready, "status") == "True" ? "HeadPodRunningAndReady" : "Unknown";
  return {kHeadPodReady, DigString(ready, "status"), reason, DigString(ready, "message")};
}

// Zero is left out, as Go's omitempty does.
void SetCount(Json& status, const char* field, int64_t value) {
  if (value != 0)
    status[field] = value;
  else
    status.erase(field);
}

void CountPods(Json& status, const Json& spec, const std::vector<Object>& pods) {
  int64_t ready = 0, available = 0;
  for (const Object& pod : pods) {
    if (LabelOf(*pod, kNodeTypeLabel) != kWorker || PhaseOf(*pod) != "Running") continue;
    ++available;
    ready += IsReadyPod(*pod);
  }
  SetCount(status, "readyWorkerReplicas", ready);
  SetCount(status, "availableWorkerReplicas", available);
  SetCount(status, "desiredWorkerReplicas", DesiredWorkersOfAll(spec));
  SetCount(status, "minWorkerReplicas", MinWorkersOfAll(spec));
  // An int32 of the operator's, which wraps when several groups are unbounded.
  SetCount(status, "maxWorkerReplicas", static_cast<int32_t>(MaxWorkersOfAll(spec)));
}

void SumResources(Json& status, const Json& spec) {
  const Json total = DesiredResources(spec);
  const auto of = [&](const char* name) {
    const Json& amount = Child(total, name);
    return amount.is_null() ? Json("0") : amount;
  };
  std::string gpus = "0";
  for (const auto& [name, amount] : total.items()) {
    if (name.ends_with("gpu")) gpus = AddQuantities(gpus, StringOf(amount));
  }
  status["desiredCPU"] = of("cpu");
  status["desiredMemory"] = of("memory");
  status["desiredGPU"] = gpus;
  status["desiredTPU"] = of("google.com/tpu");
}

void FollowSuspension(Json& next, bool has_pods, base::Millis now_ms) {
  const bool wanted = BoolOf(Dig(next, "spec", "suspend"));
  const std::string state = SuspendState(next);
  if (state == "Suspending") {
    if (has_pods) return;
    SetRayCondition(next, {kProvisioned, "False", kProvisioning, "RayCluster has been suspended"}, now_ms);
    SetRayCondition(next, {kSuspending, "False", kSuspending, ""}, now_ms);
    SetRayCondition(next, {kSuspended, "True", kSuspended, ""}, now_ms);
  } else if (state == "Suspended") {
    const Json& suspend = Dig(next, "spec", "suspend");
    if (suspend.is_boolean() && !wanted) SetRayCondition(next, {kSuspended, "False", kSuspended, ""}, now_ms);
  } else {
    SetRayCondition(next, {kSuspended, "False", kSuspended, ""}, now_ms);
    SetRayCondition(next, {kSuspending, wanted ? "True" : "False", kSuspending, ""}, now_ms);
  }
}

void DescribeHead(Json& status, const Object& head, const std::vector<Object>& services) {
  const auto set = [&](const char* field, const std::string& value) {
    if (!value.empty())
      status["head"][field] = value;
    else
      status["head"].erase(field);
  };
  if (!status["head"].is_object()) status["head"] = Json::object();
  set("podIP", head ? DigString(*head, "status", "podIP") : "");
  set("podName", head ? NameOf(*head) : "");
  if (services.empty()) return;
  const Json& service = *services[0];
  for (const Json& port : Dig(service, "spec", "ports")) {
    const Json& target = IntOf(Child(port, "nodePort")) != 0 ? Child(port, "nodePort") : Child(port, "targetPort");
    if (DigString(port, "name").empty() || target.is_null()) continue;
    Json& endpoints = status["endpoints"];
    if (!endpoints.is_object()) endpoints = Json::object();
    endpoints[DigString(port, "name")] = target.is_string() ? StringOf(target) : base::PrintJson(target);
  }
  const std::string& ip = DigString(service, "spec", "clusterIP");
  set("serviceIP", ip == "None" ? (head ? DigString(*head, "status", "podIP") : "") : ip);
  set("serviceName", NameOf(service));
}

// All pods are Running and none says that it is not Ready. False without any.
bool AllRunning(const std::vector<Object>& pods) {
  return !pods.empty() && std::ranges::all_of(pods, [](const Object& pod) {
    const Json& ready = ConditionOf(*pod, "Ready");
    return PhaseOf(*pod) == "Running" && (ready.is_null() || DigString(ready, "status") == "True");
  });
}

}  // namespace

std::string SuspendState(const Json& cluster) {
  if (IsTrue(cluster, kSuspending)) return "Suspending";
  if (IsTrue(cluster, kSuspended)) return "Suspended";
  return "";
}

Json NewStatus(const Json& cluster, const std::vector<Object>& pods, const std::vector<Object>& head_services,
               const Outcome& outcome, base::Millis now_ms) {
  Json next = cluster;
  Json& status = next["status"];
  if (!status.is_object()) status = Json::object();
  const Json& spec = Child(cluster, "spec");
  const std::string before = DigString(status, "state");
  if (!outcome.error)
    RemoveCondition(next, kReplicaFailure);
  else if (!outcome.failure_reason.empty()) {
    SetRayCondition(next, {kReplicaFailure, "True", outcome.failure_reason, *outcome.error}, now_ms);
  }
  const int64_t generation = IntOf(Dig(cluster, "metadata", "generation"), 1);
  CountPods(status, spec, pods);
  if (IntOf(Child(status, "observedGeneration")) != generation || !status.contains("desiredCPU"))
    SumResources(status, spec);
  status["observedGeneration"] = generation;
  if (!outcome.error && int64_t(pods.size()) == DesiredWorkersOfAll(spec) + 1 && AllRunning(pods)) {
    status["state"] = "ready";
    status.erase("reason");
  }
  const Object head = OnlyHead(pods);
  SetRayCondition(next, HeadCondition(head), now_ms);
  if (!IsTrue(next, kProvisioned) && SuspendState(next) != "Suspended") {
    if (AllRunning(pods)) {
      SetRayCondition(
          next, {kProvisioned, "True", "AllPodRunningAndReadyFirstTime", "All Ray Pods are ready for the first time"},
          now_ms);
    } else {
      SetRayCondition(
          next, {kProvisioned, "False", kProvisioning, "RayCluster Pods are being provisioned for first time"}, now_ms);
    }
  }
  FollowSuspension(next, !pods.empty(), now_ms);
  if (BoolOf(Child(spec, "suspend")) && pods.empty()) status["state"] = "suspended";
  DescribeHead(status, head, head_services);
  status["lastUpdateTime"] = base::FormatTime(now_ms);
  if (const std::string state = DigString(status, "state"); state != before) {
    status["stateTransitionTimes"][state] = base::FormatTime(now_ms);
  }
  return status;
}

bool WorthWriting(const Json& before, const Json& next) {
  for (const char* field :
       {"state", "reason", "readyWorkerReplicas", "availableWorkerReplicas", "desiredWorkerReplicas",
        "minWorkerReplicas", "maxWorkerReplicas", "endpoints", "head", "conditions"}) {
    if (Child(before, field) != Child(next, field)) return true;
  }
  return false;
}

}  // namespace tutti::sim::ray
