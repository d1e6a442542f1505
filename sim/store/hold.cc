// SPDX-License-Identifier: Apache-2.0
#include "sim/store/hold.h"

#include <algorithm>
#include <string_view>

namespace tutti::sim {
namespace {

constexpr const char* kHoldJobs = "tutti-hold-jobs";
constexpr const char* kHoldPods = "tutti-hold-pods";
constexpr const char* kPlacePods = "tutti-place-queued-pods";
constexpr const char* kMarkTemplates = "tutti-mark-pod-templates";
constexpr const char* kMarkLeaderWorkers = "tutti-mark-leader-worker-templates";
constexpr const char* kUngateElastic = "tutti-ungate-elastic-pods";
constexpr const char* kHoldRayServices = "tutti-hold-ray-services";
constexpr const char* kHoldTrainingJobs = "tutti-hold-training-jobs";
const GroupResource kDeploymentKind{"apps", "deployments"}, kStatefulSetKind{"apps", "statefulsets"},
    kLeaderWorkerSets{"leaderworkerset.x-k8s.io", "leaderworkersets"}, kRayServices{"ray.io", "rayservices"},
    kAppWrappers{"workload.codeflare.dev", "appwrappers"}, kJobSets{"jobset.x-k8s.io", "jobsets"},
    kJaxJobs{"kubeflow.org", "jaxjobs"}, kMpiJobs{"kubeflow.org", "mpijobs"},
    kPaddleJobs{"kubeflow.org", "paddlejobs"}, kPyTorchJobs{"kubeflow.org", "pytorchjobs"},
    kTfJobs{"kubeflow.org", "tfjobs"}, kXgBoostJobs{"kubeflow.org", "xgboostjobs"};
constexpr const char* kPodSetLabel = "kueue.x-k8s.io/podset";
constexpr const char* kManaged = "kueue.x-k8s.io/managed";
constexpr const char* kGate = "kueue.x-k8s.io/admission";
constexpr const char* kElasticGate = "kueue.x-k8s.io/elastic-job";
constexpr const char* kParent = "kueue.x-k8s.io/pod-suspending-parent";
constexpr const char* kPriorityClass = "kueue.x-k8s.io/priority-class";

// The kinds whose children the policies leave alone.
constexpr std::string_view kOwners[] = {"AppWrapper", "JAXJob",           "Job",        "JobSet",     "LeaderWorkerSet",
                                        "MPIJob",     "PaddleJob",        "PyTorchJob", "RayCluster", "RayJob",
                                        "RayService", "SparkApplication", "TFJob",      "TrainJob",   "XGBoostJob"};

bool IsInForce(const Store& store, const char* policy) {
  return store.Find(kMutatingPolicyBindings, "", policy) != nullptr;
}

// An empty value names nothing.
bool HasLabel(const Json& object, const char* label) { return !LabelOf(object, label).empty(); }

// KubeRay suspends no RayJob that uses an existing cluster, and none that leaves its cluster behind. An AppWrapper of
// v1beta1 waits in no queue.
bool CanBeSuspended(const GroupResource& id, const Json& object) {
  const Json& spec = Child(object, "spec");
  if (id == kAppWrappers) return spec.contains("components");
  if (id != kRayJobs) return true;
  return BoolOf(Child(spec, "shutdownAfterJobFinishes")) && Child(spec, "clusterSelector").empty();
}

void Gate(Json& pod) {
  pod["metadata"]["labels"][kManaged] = "true";
  const bool has_parent = Dig(pod, "metadata", "annotations").contains(kParent);
  if (!has_parent && !HasFinalizer(pod, kManaged)) pod["metadata"]["finalizers"].push_back(kManaged);
  Json& gates = pod["spec"]["schedulingGates"];
  const auto is_ours = [](const Json& gate) { return DigString(gate, "name") == kGate; };
  if (std::ranges::none_of(gates, is_ours)) gates.push_back({{"name", kGate}});
}

// A pod of a job that Kueue has started as an elastic one.
void Ungate(Json& pod) {
  Json& gates = pod["spec"]["schedulingGates"];
  if (!gates.is_array()) return;
  std::erase_if(gates.get_ref<Json::array_t&>(),
                [](const Json& gate) { return DigString(gate, "name") == kElasticGate; });
}

bool IsOfJob(const Json& object) { return std::ranges::count(kOwners, DigString(ControllerOf(object), "kind")) > 0; }

// The pods that come of it wait for quota themselves.
void MarkTemplate(const Json& object, const std::string& parent, Json& pod_template) {
  const auto takes_map = [](const Json& of, const char* key) {
    return of.is_null() || Child(of, key).is_null() || Child(of, key).is_object();
  };
  if (!pod_template.is_object() || !takes_map(pod_template, "metadata")) return;
  Json& meta = pod_template["metadata"];
  if (!takes_map(meta, "labels") || !takes_map(meta, "annotations")) return;
  const Json& labels = Dig(object, "metadata", "labels");
  meta["labels"][kQueueNameLabel] = labels[kQueueNameLabel];
  meta["labels"][kManaged] = "true";
  if (labels.contains(kPriorityClass)) meta["labels"][kPriorityClass] = labels[kPriorityClass];
  meta["annotations"][kParent] = parent;
}

void MarkLeaderWorkers(Json& object) {
  const Json as_given = object;
  Json& templates = object["spec"]["leaderWorkerTemplate"];
  if (!templates.is_object()) return;
  for (const char* each : {"leaderTemplate", "workerTemplate"})
    if (templates.contains(each)) MarkTemplate(as_given, "leaderworkerset", templates[each]);
}

void HoldPod(const Store& store, Json& pod) {
  const bool queued = HasLabel(pod, kQueueNameLabel) && !IsOfJob(pod);
  if (queued && IsInForce(store, kHoldPods)) Gate(pod);
  const bool gated = HasLabel(pod, kPodSetLabel) && pod["spec"].contains("schedulingGates");
  if (gated && IsInForce(store, kUngateElastic)) Ungate(pod);
  const std::string& scheduler = DigString(pod, "spec", "schedulerName");
  if (!queued && !HasLabel(pod, kPodSetLabel)) return;
  if ((scheduler.empty() || scheduler == "default-scheduler") && IsInForce(store, kPlacePods))
    pod["spec"]["schedulerName"] = "tutti";
}

}  // namespace

bool IsHoldPolicy(std::string_view policy) {
  static constexpr std::string_view kAll[] = {kHoldJobs,  kHoldRayServices, kHoldTrainingJobs,  kHoldPods,
                                              kPlacePods, kMarkTemplates,   kMarkLeaderWorkers, kUngateElastic};
  return std::ranges::find(kAll, policy) != std::end(kAll);
}

void HoldQueued(const Store& store, const GroupResource& id, Json& object) {
  const std::string& ns = NamespaceOf(object);
  if (ns == "kube-system" || ns == "tutti-system" || !Child(object, "spec").is_object()) return;
  if (id == kPods) return HoldPod(store, object);
  if (IsOfJob(object) || !HasLabel(object, kQueueNameLabel) || !CanBeSuspended(id, object)) return;
  const auto in_force = [&](const char* policy) { return IsInForce(store, policy); };
  if (id == kDeploymentKind && in_force(kMarkTemplates))
    return MarkTemplate(Json(object), "deployment", object["spec"]["template"]);
  if (id == kStatefulSetKind && in_force(kMarkTemplates))
    return MarkTemplate(Json(object), "statefulset", object["spec"]["template"]);
  if (id == kLeaderWorkerSets && in_force(kMarkLeaderWorkers)) return MarkLeaderWorkers(object);
  if (id == kRayServices && in_force(kHoldRayServices) && Dig(object, "spec", "rayClusterConfig").is_object())
    object["spec"]["rayClusterConfig"]["suspend"] = true;
  const bool has_flag =
      id == kRayJobs || id == kRayClusters || id == kJobs || id == kJobSets || id == kAppWrappers;
  if (has_flag && in_force(kHoldJobs)) object["spec"]["suspend"] = true;
  const bool has_run_policy = id == kJaxJobs || id == kMpiJobs || id == kPaddleJobs || id == kPyTorchJobs ||
                              id == kTfJobs || id == kXgBoostJobs;
  const Json& run_policy = Dig(object, "spec", "runPolicy");
  if (has_run_policy && in_force(kHoldTrainingJobs) && (run_policy.is_null() || run_policy.is_object()))
    object["spec"]["runPolicy"]["suspend"] = true;
}

}  // namespace tutti::sim
