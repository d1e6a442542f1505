// SPDX-License-Identifier: Apache-2.0
#include "sim/store/hold.h"

#include <algorithm>
#include <string_view>

namespace tutti::sim {
namespace {

constexpr const char* kHoldJobs = "tutti-hold-jobs";
constexpr const char* kHoldPods = "tutti-hold-pods";
constexpr const char* kPlacePods = "tutti-place-queued-pods";
constexpr const char* kPodSetLabel = "kueue.x-k8s.io/podset";
constexpr const char* kManaged = "kueue.x-k8s.io/managed";
constexpr const char* kGate = "kueue.x-k8s.io/admission";

// The kinds whose children the policies leave alone.
constexpr std::string_view kOwners[] = {"AppWrapper", "JAXJob",           "Job",        "JobSet",     "LeaderWorkerSet",
                                        "MPIJob",     "PaddleJob",        "PyTorchJob", "RayCluster", "RayJob",
                                        "RayService", "SparkApplication", "TFJob",      "TrainJob",   "XGBoostJob"};

bool IsInForce(const Store& store, const char* policy) {
  return store.Find(kMutatingPolicyBindings, "", policy) != nullptr;
}

bool HasLabel(const Json& object, const char* label) { return Dig(object, "metadata", "labels").contains(label); }

// KubeRay suspends no RayJob that uses an existing cluster, and none that leaves its cluster behind.
bool CanBeSuspended(const GroupResource& id, const Json& object) {
  if (id != kRayJobs) return true;
  const Json& spec = Child(object, "spec");
  return BoolOf(Child(spec, "shutdownAfterJobFinishes")) && Child(spec, "clusterSelector").empty();
}

void Gate(Json& pod) {
  pod["metadata"]["labels"][kManaged] = "true";
  Json& finalizers = pod["metadata"]["finalizers"];
  if (!HasFinalizer(pod, kManaged)) finalizers.push_back(kManaged);
  Json& gates = pod["spec"]["schedulingGates"];
  const auto is_ours = [](const Json& gate) { return DigString(gate, "name") == kGate; };
  if (std::ranges::none_of(gates, is_ours)) gates.push_back({{"name", kGate}});
}

void HoldPod(const Store& store, Json& pod) {
  const bool queued = HasLabel(pod, kQueueNameLabel) && ControllerOf(pod).empty();
  if (queued && IsInForce(store, kHoldPods)) Gate(pod);
  const std::string& scheduler = DigString(pod, "spec", "schedulerName");
  if (!queued && !HasLabel(pod, kPodSetLabel)) return;
  if ((scheduler.empty() || scheduler == "default-scheduler") && IsInForce(store, kPlacePods))
    pod["spec"]["schedulerName"] = "tutti";
}

}  // namespace

bool IsHoldPolicy(std::string_view policy) {
  return policy == kHoldJobs || policy == kHoldPods || policy == kPlacePods;
}

void HoldQueued(const Store& store, const GroupResource& id, Json& object) {
  const std::string& ns = NamespaceOf(object);
  if (ns == "kube-system" || ns == "tutti-system" || !Child(object, "spec").is_object()) return;
  if (id == kPods) return HoldPod(store, object);
  if (id != kRayJobs && id != kRayClusters && id != kJobs) return;
  const bool owned = std::ranges::count(kOwners, DigString(ControllerOf(object), "kind")) > 0;
  if (owned || !HasLabel(object, kQueueNameLabel) || !CanBeSuspended(id, object)) return;
  if (IsInForce(store, kHoldJobs)) object["spec"]["suspend"] = true;
}

}  // namespace tutti::sim
