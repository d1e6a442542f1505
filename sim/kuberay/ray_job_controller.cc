// SPDX-License-Identifier: Apache-2.0
#include "sim/kuberay/ray_job_controller.h"

#include <fmt/format.h>

#include "base/duration.h"
#include "base/random.h"
#include "sim/kuberay/ray_batch_scheduler.h"
#include "sim/kuberay/ray_job_objects.h"
#include "sim/kuberay/ray_names.h"
#include "sim/kuberay/ray_sizes.h"
#include "sim/objects/lifetime.h"

namespace tutti::sim {
namespace {

constexpr size_t kLongestJobName = 47;
constexpr const char* kStopFinalizer = "ray.io/rayjob-finalizer";

const std::string& Deployment(const Json& ray_job) { return DigString(ray_job, "status", "jobDeploymentStatus"); }
const std::string& Mode(const Json& ray_job) { return DigString(ray_job, "spec", "submissionMode"); }
bool SelectsCluster(const Json& ray_job) { return !Dig(ray_job, "spec", "clusterSelector").empty(); }
bool IsTerminal(const std::string& status) {
  return status == "STOPPED" || status == "SUCCEEDED" || status == "FAILED";
}

// "Complete", "Failed" or "".
std::string EndOf(const Json& job) {
  for (const char* type : {"Complete", "Failed"}) {
    if (IsTrue(job, type)) return type;
  }
  return "";
}

std::string DashboardAddress(const Store& store, const Json& cluster) {
  const Object service = store.Find(kServices, NamespaceOf(cluster), ray::HeadServiceName(cluster));
  for (const Json& port : service ? Dig(*service, "spec", "ports") : Json()) {
    if (DigString(port, "name") == "dashboard")
      return fmt::format("{}:{}", ray::HeadAddress(cluster), IntOf(Child(port, "port")));
  }
  return "";
}

}  // namespace

void RayJobController::Observe(const WatchEvent& event) {
  const Json& object = *event.object;
  if (event.resource == kRayJobs) Enqueue(KeyFor(object));
  if (event.resource == kRayClusters || event.resource == kJobs || event.resource == kServices)
    EnqueueOwner(object, "RayJob");
  // The submitter's pod: Ray knows of the job from when it runs.
  if (event.resource == kPods && DigString(ControllerOf(object), "kind") == "Job") {
    const ObjectKey of{NamespaceOf(object), DigString(ControllerOf(object), "name")};
    if (store_.Find(kRayJobs, of.ns, of.name)) Enqueue(of);
  }
}

void RayJobController::Reconcile(const ObjectKey& key) {
  const Object object = store_.Find(kRayJobs, key.ns, key.name);
  if (!object || ray::IsManagedElsewhere(*object)) return;
  if (IsTerminating(*object)) return LetGo(*object);
  if (const auto problem = ray::MetadataProblem(Child(*object, "metadata"), "RayJob", kLongestJobName)) {
    return Warn(*object, "InvalidRayJobMetadata",
                fmt::format("The RayJob metadata is invalid {}: {}", KeyOf(*object), *problem));
  }
  if (const auto problem = ray::JobSpecProblem(*object)) {
    return Warn(*object, "InvalidRayJobSpec",
                fmt::format("The RayJob spec is invalid {}: {}", KeyOf(*object), *problem));
  }
  Json next = *object;
  if (!next["status"].is_object()) next["status"] = Json::object();
  if (Advance(next) == Step::kWait) return;
  CountAttempt(next);
  const Json& before = Child(*object, "status");
  const bool moved = DigString(before, "jobStatus") != DigString(next, "status", "jobStatus") ||
                     DigString(before, "jobDeploymentStatus") != Deployment(next);
  if (!moved) return;
  if (Deployment(next) == "Complete" || Deployment(next) == "Failed") {
    next["status"]["endTime"] = base::FormatTime(store_.now_ms());
  }
  store_.Modify(kRayJobs, key.ns, key.name, [&](Json& current) { current["status"] = next["status"]; }, Part::kStatus);
}

void RayJobController::LetGo(const Json& ray_job) {
  if (!HasFinalizer(ray_job, kStopFinalizer)) return;
  store_.Modify(kRayJobs, NamespaceOf(ray_job), NameOf(ray_job),
                [](Json& next) { DropFinalizer(next, kStopFinalizer); });
}

RayJobController::Step RayJobController::Advance(Json& ray_job) {
  const std::string at = Deployment(ray_job);
  if (at.empty()) return Begin(ray_job);
  if (at == "Initializing") return Initialize(ray_job);
  if (at == "Running") return Follow(ray_job);
  if (at == "Suspending" || at == "Retrying") return TakeBack(ray_job);
  if (at == "Complete" || at == "Failed") return ShutDown(ray_job);
  if (at == "Waiting") {
    const std::string& id = DigString(ray_job, "spec", "jobId");
    if (id.empty()) return Step::kWait;
    ray_job["status"]["jobId"] = id;
    ray_job["status"]["jobDeploymentStatus"] = "Running";
    return Step::kWrite;
  }
  if (at != "Suspended" || BoolOf(Dig(ray_job, "spec", "suspend"))) return Step::kWait;
  ray_job["status"].erase("jobStatus");
  ray_job["status"].erase("jobDeploymentStatus");
  return Step::kWrite;
}

RayJobController::Step RayJobController::Begin(Json& ray_job) {
  if (!HasFinalizer(ray_job, kStopFinalizer)) {
    store_.Modify(kRayJobs, NamespaceOf(ray_job), NameOf(ray_job),
                  [](Json& next) { next["metadata"]["finalizers"].push_back(kStopFinalizer); });
  }
  Json& status = ray_job["status"];
  if (Mode(ray_job) != "InteractiveMode" && DigString(status, "jobId").empty()) {
    const std::string& given = DigString(ray_job, "spec", "jobId");
    status["jobId"] = given.empty() ? fmt::format("{}-{}", NameOf(ray_job), Suffix(ray_job)) : given;
  }
  if (DigString(status, "rayClusterName").empty()) {
    std::string name = DigString(ray_job, "spec", "clusterSelector", ray::kClusterLabel);
    if (SelectsCluster(ray_job) && name.empty()) return Step::kWait;
    if (name.empty()) name = fmt::format("{}-{}", NameOf(ray_job), Suffix(ray_job));
    status["rayClusterName"] = name;
  }
  status["jobDeploymentStatus"] = "Initializing";
  status["startTime"] = base::FormatTime(store_.now_ms());
  return Step::kWrite;
}

RayJobController::Step RayJobController::Initialize(Json& ray_job) {
  if (SuspendIfAsked(ray_job) || FailIfOverdue(ray_job)) return Step::kWrite;
  if (SelectsCluster(ray_job) && options_.release != KubeRayRelease::k1_4 &&
      options_.batch_scheduler == BatchScheduler::kVolcano) {
    return Step::kWait;  // refused by the operator: the group would have no cluster to be sized by
  }
  const Json planned = {{"spec", Dig(ray_job, "spec", "rayClusterSpec")}};
  const Object existing = ClusterOf(ray_job);
  if (const auto error = ray::SyncJobPodGroup(store_, options_, ray_job, existing ? *existing : planned)) {
    Warn(ray_job, "FailedToCreateRayCluster", *error);
    RetryLater(KeyFor(ray_job));
    return Step::kWait;
  }
  const Object cluster = FindOrMakeCluster(ray_job);
  if (!cluster) return Step::kWait;
  Json& status = ray_job["status"];
  if (DigString(status, "dashboardURL").empty()) {
    if (DigString(*cluster, "status", "state") != "ready") return Step::kWait;
    const std::string address = DashboardAddress(store_, *cluster);
    if (address.empty()) return Step::kWait;
    status["dashboardURL"] = address;
  }
  if (Mode(ray_job) == "InteractiveMode") {
    status["jobDeploymentStatus"] = "Waiting";
    return Step::kWrite;
  }
  if (Mode(ray_job) == "K8sJobMode" && !MakeSubmitter(ray_job, *cluster)) return Step::kWait;
  status["jobDeploymentStatus"] = "Running";
  return Step::kWrite;
}

RayJobController::Step RayJobController::Follow(Json& ray_job) {
  if (SuspendIfAsked(ray_job) || FailIfOverdue(ray_job)) return Step::kWrite;
  Json& status = ray_job["status"];
  Object submitter;
  if (Mode(ray_job) == "K8sJobMode") {
    submitter = store_.Find(kJobs, NamespaceOf(ray_job), NameOf(ray_job));
    if (!submitter) return Step::kWait;
    const Json& failed = ConditionOf(*submitter, "Failed");
    if (DigString(failed, "status") == "True") {
      const bool by_app = DigString(status, "jobStatus") == "FAILED" || JobStatus(ray_job, submitter) == "FAILED";
      status["jobDeploymentStatus"] = "Failed";
      if (by_app) status["jobStatus"] = "FAILED";
      status["reason"] = by_app ? "AppFailed" : "SubmissionFailed";
      if (!by_app) {
        status["message"] = fmt::format("Job submission has failed. Reason: {}. Message: {}",
                                        DigString(failed, "reason"), DigString(failed, "message"));
      }
      return Step::kWrite;
    }
  }
  const Object cluster = FindOrMakeCluster(ray_job);
  if (!cluster) return Step::kWait;
  const std::string now = JobStatus(ray_job, submitter);
  status["rayClusterStatus"] = Child(*cluster, "status");
  status["jobStatus"] = now;
  if (now == "RUNNING" && Dig(status, "rayJobInfo", "startTime").is_null()) {
    status["rayJobInfo"]["startTime"] = base::FormatTime(store_.now_ms());
  }
  if (IsTerminal(now) && (!submitter || !EndOf(*submitter).empty())) {
    status["jobDeploymentStatus"] = now == "FAILED" ? "Failed" : "Complete";
    if (now == "FAILED") status["reason"] = "AppFailed";
    status["rayJobInfo"]["endTime"] = base::FormatTime(store_.now_ms());
  }
  return Step::kWrite;
}

// Suspended or about to be tried again: everything goes, then the next attempt starts again.
RayJobController::Step RayJobController::TakeBack(Json& ray_job) {
  const bool cluster_gone = DeleteCluster(ray_job);
  const bool submitter_gone = DeleteSubmitter(ray_job);
  if (!cluster_gone || !submitter_gone) return Step::kWait;
  ray::SyncJobPodGroup(store_, options_, ray_job, Json());
  Json& status = ray_job["status"];
  const bool suspended = Deployment(ray_job) == "Suspending";
  for (const char* field : {"rayClusterStatus", "rayClusterName", "dashboardURL", "jobId", "message", "reason",
                            "rayJobInfo", "jobStatus", "jobDeploymentStatus"}) {
    status.erase(field);
  }
  if (suspended) status["jobDeploymentStatus"] = "Suspended";
  return Step::kWrite;
}

RayJobController::Step RayJobController::ShutDown(Json& ray_job) {
  const Object cluster = ClusterOf(ray_job);
  ray::SyncJobPodGroup(store_, options_, ray_job, cluster && !IsTerminating(*cluster) ? *cluster : Json());
  if (!BoolOf(Dig(ray_job, "spec", "shutdownAfterJobFinishes")) || SelectsCluster(ray_job)) return Step::kWait;
  const auto ended = base::ParseTime(DigString(ray_job, "status", "endTime"));
  const base::Millis due = ended.value_or(0) + IntOf(Dig(ray_job, "spec", "ttlSecondsAfterFinished")) * 1000;
  if (store_.now_ms() < due)
    EnqueueIn(KeyFor(ray_job), due - store_.now_ms());
  else if (!DeleteCluster(ray_job))
    Enqueue(KeyFor(ray_job));
  return Step::kWait;
}

bool RayJobController::SuspendIfAsked(Json& ray_job) {
  if (!BoolOf(Dig(ray_job, "spec", "suspend"))) return false;
  ray_job["status"]["jobDeploymentStatus"] = "Suspending";
  return true;
}

bool RayJobController::FailIfOverdue(Json& ray_job) {
  const Json& deadline = Dig(ray_job, "spec", "activeDeadlineSeconds");
  const auto started = base::ParseTime(DigString(ray_job, "status", "startTime"));
  if (!deadline.is_number() || !started) return false;
  const base::Millis left = *started + IntOf(deadline) * 1000 - store_.now_ms();
  if (left > 0) {
    EnqueueIn(KeyFor(ray_job), left);
    return false;
  }
  Json& status = ray_job["status"];
  status["jobDeploymentStatus"] = "Failed";
  status["reason"] = "DeadlineExceeded";
  status["message"] =
      fmt::format("The RayJob has passed the activeDeadlineSeconds. StartTime: {}. ActiveDeadlineSeconds: {}",
                  DigString(status, "startTime"), IntOf(deadline));
  return true;
}

void RayJobController::CountAttempt(Json& ray_job) {
  Json& status = ray_job["status"];
  const bool failed = Deployment(ray_job) == "Failed";
  const bool succeeded = Deployment(ray_job) == "Complete" && DigString(status, "jobStatus") == "SUCCEEDED";
  status["failed"] = IntOf(Child(status, "failed")) + failed;
  status["succeeded"] = IntOf(Child(status, "succeeded")) + succeeded;
  const Json& limit = Dig(ray_job, "spec", "backoffLimit");
  if (failed && limit.is_number() && IntOf(status["failed"]) <= IntOf(limit) &&
      DigString(status, "reason") != "DeadlineExceeded") {
    status["jobDeploymentStatus"] = "Retrying";
  }
}

Object RayJobController::ClusterOf(const Json& ray_job) const {
  return store_.Find(kRayClusters, NamespaceOf(ray_job), DigString(ray_job, "status", "rayClusterName"));
}

Object RayJobController::FindOrMakeCluster(const Json& ray_job) {
  if (Object cluster = ClusterOf(ray_job)) return cluster;
  if (SelectsCluster(ray_job)) {
    RetryLater(KeyFor(ray_job));
    return nullptr;
  }
  const Json built = ray::BuildJobCluster(ray_job, DigString(ray_job, "status", "rayClusterName"));
  const auto created = store_.Create(built);
  if (!created) {
    Warn(ray_job, "FailedToCreateRayCluster",
         fmt::format("Failed to create RayCluster {}: {}", KeyOf(built), created.error().message));
    RetryLater(KeyFor(ray_job));
    return nullptr;
  }
  Note(ray_job, "CreatedRayCluster", "Created RayCluster " + KeyOf(built));
  return *created;
}

bool RayJobController::MakeSubmitter(const Json& ray_job, const Json& cluster) {
  if (store_.Find(kJobs, NamespaceOf(ray_job), NameOf(ray_job))) return true;
  const Json built = ray::BuildSubmitterJob(ray_job, cluster, options_);
  const auto created = store_.Create(built);
  if (!created) {
    Warn(ray_job, "FailedToCreateRayJobSubmitter",
         fmt::format("Failed to create new Kubernetes Job {}: {}", KeyOf(built), created.error().message));
    RetryLater(KeyFor(ray_job));
    return false;
  }
  Note(ray_job, "CreatedRayJobSubmitter", "Created Kubernetes Job " + KeyOf(built));
  return true;
}

// True once it is gone.
bool RayJobController::DeleteCluster(const Json& ray_job) {
  const Object cluster = ClusterOf(ray_job);
  if (!cluster) return true;
  if (IsTerminating(*cluster)) return false;
  store_.Delete(kRayClusters, NamespaceOf(*cluster), NameOf(*cluster), {.uid = UidOf(*cluster)});
  Note(ray_job, "DeletedRayCluster", "Deleted cluster " + KeyOf(*cluster));
  return !ClusterOf(ray_job);
}

bool RayJobController::DeleteSubmitter(const Json& ray_job) {
  if (Mode(ray_job) == "HTTPMode") return true;
  const Object job = store_.Find(kJobs, NamespaceOf(ray_job), NameOf(ray_job));
  if (!job) return true;
  if (IsTerminating(*job)) return false;
  store_.Delete(kJobs, NamespaceOf(*job), NameOf(*job), {.uid = UidOf(*job)});
  Note(ray_job, "DeletedRayJobSubmitter", "Deleted submitter K8s Job " + KeyOf(*job));
  return !store_.Find(kJobs, NamespaceOf(ray_job), NameOf(ray_job));
}

// What Ray's dashboard would say.
std::string RayJobController::JobStatus(const Json& ray_job, const Object& submitter) {
  if (submitter) {
    const std::string end = EndOf(*submitter);
    if (end == "Complete") return "SUCCEEDED";
    // Pods that got to run and failed are the entrypoint's own failure.
    if (end == "Failed") return IntOf(Dig(*submitter, "status", "failed")) > 0 ? "FAILED" : "";
    const bool running = IntOf(Dig(*submitter, "status", "ready")) > 0;
    return running || DigString(ray_job, "status", "jobStatus") == "RUNNING" ? "RUNNING" : "PENDING";
  }
  const auto run_for = base::ParseSpan(AnnotationOf(ray_job, kRunForAnnotation));
  const auto since = base::ParseTime(DigString(ray_job, "status", "rayJobInfo", "startTime"));
  if (!run_for) return "RUNNING";
  const base::Millis left = since.value_or(store_.now_ms()) + *run_for - store_.now_ms();
  if (left <= 0) return AnnotationOf(ray_job, kExitCodeAnnotation).empty() ? "SUCCEEDED" : "FAILED";
  EnqueueIn(KeyFor(ray_job), left);
  return "RUNNING";
}

// Five characters, the same for the same object and attempt.
std::string RayJobController::Suffix(const Json& ray_job) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  uint64_t seed = uint64_t(IntOf(Dig(ray_job, "status", "failed"))) + uint64_t(ResourceVersionOf(ray_job));
  for (const char c : UidOf(ray_job)) seed = (seed ^ uint64_t(uint8_t(c))) * 1099511628211ull;
  base::Random random(seed);
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kAlphabet[random.Below(kAlphabet.size())];
  return suffix;
}

}  // namespace tutti::sim
