// SPDX-License-Identifier: Apache-2.0
#include "sim/kuberay/ray_cluster_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <span>

#include "sim/kuberay/ray_batch_scheduler.h"
#include "sim/kuberay/ray_names.h"
#include "sim/kuberay/ray_pod.h"
#include "sim/kuberay/ray_service.h"
#include "sim/kuberay/ray_sizes.h"

namespace tutti::sim {
namespace {

using ray::Outcome;

constexpr size_t kLongestClusterName = 53;
constexpr int64_t kMaxWorkersAtOnce = 50'000;  // per group and round, whatever a spec asks for

Outcome Failure(std::string reason, std::string error) {
  return {fmt::format("{}\n{}", reason, error), std::move(reason)};
}

bool RayContainerEnded(const Json& pod) {
  const std::string& ray = DigString(ray::FirstContainer(pod), "name");
  for (const Json& status : Dig(pod, "status", "containerStatuses")) {
    if (DigString(status, "name") == ray) {
      return !Dig(status, "state", "terminated").is_null();
    }
  }
  return false;
}

// A pod that will not come back by itself.
bool IsLost(const Json& pod) {
  if (IsFinishedPod(pod)) return true;
  return PhaseOf(pod) == "Running" && RayContainerEnded(pod) && DigString(pod, "spec", "restartPolicy") == "Never";
}

// Nothing changed that a RayCluster's controller reads: the pod was bound, or says why it waits.
bool IsSameToRay(const Json& pod, const Json& before) {
  const auto same = [&](auto... path) { return Dig(pod, path...) == Dig(before, path...); };
  return same("metadata", "labels") && IsTerminating(pod) == IsTerminating(before) && same("status", "phase") &&
         same("status", "podIP") && same("status", "containerStatuses") &&
         ConditionOf(pod, "Ready") == ConditionOf(before, "Ready");
}

// "role binding" of "RoleBinding".
std::string Spoken(const std::string& kind) {
  std::string text;
  for (const char c : kind) {
    if (c >= 'A' && c <= 'Z' && !text.empty()) text += ' ';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

std::string DeletedText(const char* type, const Json& pod) {
  return fmt::format("Deleted {} Pod {}; Pod status: {}; Pod restart policy: {}; Ray container terminated status: {}",
                     type, KeyOf(pod), PhaseOf(pod), DigString(pod, "spec", "restartPolicy"),
                     RayContainerEnded(pod) ? "terminated" : "nil");
}

}  // namespace

void RayClusterController::Observe(const WatchEvent& event) {
  const Json& object = *event.object;
  if (event.resource == kRayClusters) {
    // As the operator's predicates: its own status writes do not wake it.
    const bool same = event.previous &&
                      Dig(object, "metadata", "generation") == Dig(*event.previous, "metadata", "generation") &&
                      Dig(object, "metadata", "labels") == Dig(*event.previous, "metadata", "labels") &&
                      Dig(object, "metadata", "annotations") == Dig(*event.previous, "metadata", "annotations");
    if (!same || event.type == EventType::kDeleted) Enqueue(KeyFor(object));
    return;
  }
  const std::string& cluster = LabelOf(object, ray::kClusterLabel);
  const bool gone = event.type == EventType::kDeleted || cluster.empty();
  const std::string of = gone ? "" : NamespaceOf(object) + "/" + cluster;
  if (event.resource == kPods) {
    if (!gone && event.previous && IsSameToRay(object, *event.previous)) return;
    pods_.Put(KeyFor(object), of);
  } else if (event.resource == kServices) {
    const bool heads = LabelOf(object, ray::kNodeTypeLabel) == ray::kHead &&
                       LabelOf(object, ray::kIdentifierLabel) == ray::HeadIdentifier(cluster, ray::kHead);
    head_services_.Put(KeyFor(object), heads ? of : "");
  } else if (event.resource.resource != "podgroups") {
    return;
  }
  EnqueueOwner(object, "RayCluster");
}

void RayClusterController::Reconcile(const ObjectKey& key) {
  const Object object = store_.Find(kRayClusters, key.ns, key.name);
  if (!object || IsTerminating(*object) || ray::IsManagedElsewhere(*object)) return;
  const Json& cluster = *object;
  if (const auto problem = ray::MetadataProblem(Child(cluster, "metadata"), "RayCluster", kLongestClusterName)) {
    return Warn(cluster, "InvalidRayClusterMetadata",
                fmt::format("The RayCluster metadata is invalid {}: {}", KeyOf(cluster), *problem));
  }
  if (const auto problem = ray::SpecProblem(Child(cluster, "spec"), Dig(cluster, "metadata", "annotations"))) {
    return Warn(cluster, "InvalidRayClusterSpec",
                fmt::format("The RayCluster spec is invalid {}: {}", KeyOf(cluster), *problem));
  }
  const Outcome outcome = ReconcileAll(cluster);
  const Json status = ray::NewStatus(cluster, PodsOf(cluster), HeadServicesOf(cluster), outcome, store_.now_ms());
  const bool changed = ray::WorthWriting(Child(cluster, "status"), status);
  if (changed) {
    store_.Modify(kRayClusters, key.ns, key.name, [&](Json& next) { next["status"] = status; }, Part::kStatus);
  }
  if (outcome.error)
    RetryLater(key);
  else
    Succeeded(key);
  // A suspension moves on by what its status says. A failure waits for its retry: its text may name a pod that was
  // never made, another one each time.
  const bool suspends = BoolOf(Dig(cluster, "spec", "suspend")) || !ray::SuspendState(cluster).empty();
  if (changed && suspends && !outcome.error) Enqueue(key);
}

Outcome RayClusterController::ReconcileAll(const Json& cluster) {
  if (const auto error = EnsureAccess(cluster)) return {error, ""};
  if (const auto error = EnsureServices(cluster)) return {error, ""};
  return ReconcilePods(cluster);
}

std::optional<std::string> RayClusterController::EnsureAccess(const Json& cluster) {
  if (!ray::IsAutoscaled(Child(cluster, "spec"))) return std::nullopt;
  for (const Json& object : ray::BuildAutoscalerAccess(cluster)) {
    const std::string& kind = DigString(object, "kind");
    const auto created = store_.Create(object);
    if (created)
      Note(cluster, "Created" + kind, fmt::format("Created {} {}", Spoken(kind), KeyOf(object)));
    else if (created.error().code != 409)
      return created.error().message;
  }
  return std::nullopt;
}

std::optional<std::string> RayClusterController::EnsureServices(const Json& cluster) {
  std::vector<Json> wanted;
  if (HeadServicesOf(cluster).empty()) wanted.push_back(ray::BuildHeadService(cluster));
  if (ray::NeedsHeadlessService(cluster)) wanted.push_back(ray::BuildHeadlessService(cluster));
  if (AnnotationOf(cluster, ray::kServeServiceAnnotation) == "true") {
    wanted.push_back(ray::BuildServeService(cluster));
    if (wanted.back().is_null()) {
      return "Please specify the port named 'serve' in the Ray head container; otherwise, the Kubernetes service for "
             "Ray "
             "Serve will not be created.";
    }
  }
  for (const Json& service : wanted) {
    if (store_.Find(kServices, NamespaceOf(service), NameOf(service))) continue;
    const auto created = store_.Create(service);
    if (!created) {
      Warn(cluster, "FailedToCreateService",
           fmt::format("Failed creating service {}, {}", KeyOf(service), created.error().message));
      return created.error().message;
    }
    // Of the serve service the operator says nothing.
    if (NameOf(service) != ray::ServeServiceName(NameOf(cluster))) {
      Note(cluster, "CreatedService", "Created service " + KeyOf(service));
    }
  }
  return std::nullopt;
}

Outcome RayClusterController::ReconcilePods(const Json& cluster) {
  const std::vector<Object> pods = PodsOf(cluster);
  const std::string suspension = ray::SuspendState(cluster);
  if (suspension == "Suspending") {
    for (const Object& pod : pods) {
      if (!IsTerminating(*pod)) DeletePod(*pod);
    }
    Note(cluster, "DeletedPod", fmt::format("Deleted Pods for RayCluster {} due to suspension", KeyOf(cluster)));
    return {};
  }
  if (suspension == "Suspended" || BoolOf(Dig(cluster, "spec", "suspend"))) return {};
  if (const auto error = ray::SyncPodGroup(store_, options_, cluster)) return {error, ""};
  if (Outcome outcome = ReconcileHead(cluster, pods); outcome.error) return outcome;
  for (const Json& group : Dig(cluster, "spec", "workerGroupSpecs")) {
    std::vector<Object> own;
    for (const Object& pod : pods) {
      if (LabelOf(*pod, ray::kGroupLabel) == DigString(group, "groupName")) own.push_back(pod);
    }
    if (Outcome outcome = ReconcileGroup(cluster, group, std::move(own)); outcome.error) return outcome;
  }
  return {};
}

Outcome RayClusterController::ReconcileHead(const Json& cluster, const std::vector<Object>& pods) {
  std::vector<Object> heads;
  for (const Object& pod : pods) {
    if (LabelOf(*pod, ray::kNodeTypeLabel) == ray::kHead) heads.push_back(pod);
  }
  if (heads.size() > 1) return {fmt::format("{} head pods found. Please delete extra head pods", heads.size()), ""};
  if (heads.size() == 1) {
    const Json& head = *heads[0];
    if (!IsLost(head)) return {};
    DeletePod(head);
    Note(cluster, "DeletedHeadPod", DeletedText("head", head));
    return {fmt::format("The head Pod {} status is {}", NameOf(head), PhaseOf(head)), ""};
  }
  Json pod = ray::BuildHeadPod(cluster);
  ray::AddBatchMetadata(options_, cluster, ray::kHeadGroup, pod);
  const std::string named = KeyOf(pod);
  const auto created = store_.Create(std::move(pod));
  if (!created) {
    Warn(cluster, "FailedToCreateHeadPod",
         fmt::format("Failed to create head Pod {}, {}", named, created.error().message));
    return Failure("FailedCreateHeadPod", created.error().message);
  }
  Note(cluster, "CreatedHeadPod", "Created head Pod " + KeyOf(**created));
  return {};
}

Outcome RayClusterController::ReconcileGroup(const Json& cluster, const Json& group, std::vector<Object> pods) {
  std::set<std::string> deleted;
  for (const Object& pod : pods) {
    if (!IsLost(*pod)) continue;
    DeletePod(*pod);
    deleted.insert(NameOf(*pod));
    Note(cluster, "DeletedWorkerPod", DeletedText("worker", *pod));
  }
  // No new ones in the round that takes lost ones away.
  if (!deleted.empty()) return {fmt::format("delete {} unhealthy worker Pods", deleted.size()), ""};
  for (const Json& name : Dig(group, "scaleStrategy", "workersToDelete")) {
    const auto gone = store_.Delete(kPods, NamespaceOf(cluster), StringOf(name));
    if (!gone) continue;
    deleted.insert(StringOf(name));
    Note(cluster, "DeletedWorkerPod", fmt::format("Deleted pod {}/{}", NamespaceOf(cluster), StringOf(name)));
  }
  std::erase_if(pods, [&](const Object& pod) { return deleted.contains(NameOf(*pod)); });
  const int64_t missing = ray::DesiredWorkers(group) - int64_t(pods.size());
  if (missing > 0) return AddWorkers(cluster, group, pods, missing);
  // With autoscaling, which pods go is the autoscaler's to say.
  if (missing == 0 || ray::IsAutoscaled(Child(cluster, "spec"))) return {};
  const size_t surplus = std::min(pods.size(), static_cast<size_t>(-missing));  // a size may be below zero
  for (const Object& pod : std::span(pods).first(surplus)) {
    DeletePod(*pod);
    Note(cluster, "DeletedWorkerPod", "Deleted Pod " + KeyOf(*pod));
  }
  return {};
}

Outcome RayClusterController::AddWorkers(const Json& cluster, const Json& group, const std::vector<Object>& pods,
                                         int64_t count) {
  Json built = ray::BuildWorkerPod(cluster, group);
  if (count > 1) base::Freeze(built);  // the copies share what they do not change
  for (int64_t i = 0; i < std::min(count, kMaxWorkersAtOnce); ++i) {
    Json pod = count > 1 ? built : std::move(built);
    if (options_.release != KubeRayRelease::k1_4) LabelReplica(group, pods, i, pod);
    ray::AddBatchMetadata(options_, cluster, DigString(group, "groupName"), pod);
    const auto created = store_.Create(std::move(pod));
    if (!created) {
      Warn(cluster, "FailedToCreateWorkerPod",
           fmt::format("Failed to create worker Pod for the cluster {}, {}", KeyOf(cluster), created.error().message));
      return Failure("FailedCreateWorkerPod", created.error().message);
    }
    Note(cluster, "CreatedWorkerPod", "Created worker Pod " + KeyOf(**created));
  }
  if (count > kMaxWorkersAtOnce) return {fmt::format("{} worker Pods are more than are made here", count), ""};
  return {};
}

// Replicas are numbered, lowest free number first; the hosts of one share its name.
void RayClusterController::LabelReplica(const Json& group, const std::vector<Object>& pods, int64_t ordinal,
                                        Json& pod) {
  const int64_t hosts = std::max<int64_t>(1, IntOf(Child(group, "numOfHosts"), 1));
  std::set<int64_t> taken;
  for (const Object& each : pods) {
    if (const std::string& index = LabelOf(*each, ray::kReplicaIndexLabel); !index.empty())
      taken.insert(std::atoll(index.c_str()));
  }
  int64_t index = 0;
  for (int64_t skip = ordinal / hosts;; ++index) {
    if (!taken.contains(index) && skip-- == 0) break;
  }
  Json& labels = pod["metadata"]["labels"];
  labels[ray::kReplicaIndexLabel] = std::to_string(index);
  if (hosts == 1) return;
  labels[ray::kReplicaNameLabel] = fmt::format("{}-{}", DigString(group, "groupName"), index);
  labels[ray::kHostIndexLabel] = std::to_string(ordinal % hosts);
}

void RayClusterController::DeletePod(const Json& pod) {
  store_.Delete(kPods, NamespaceOf(pod), NameOf(pod), {.uid = UidOf(pod)});
}

std::vector<Object> RayClusterController::PodsOf(const Json& cluster) const {
  return pods_.Find(store_, NamespaceOf(cluster) + "/" + NameOf(cluster));
}

std::vector<Object> RayClusterController::HeadServicesOf(const Json& cluster) const {
  return head_services_.Find(store_, NamespaceOf(cluster) + "/" + NameOf(cluster));
}

}  // namespace tutti::sim
