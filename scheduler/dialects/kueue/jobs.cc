// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "dialects/appwrapper_sets.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/queue_status.h"
#include "dialects/wording.h"

namespace tutti::dialects::kueue {

using base::Json;

namespace {

bool IsFlagSet(const Json& object, const std::string& pointer) {
  const Json::json_pointer at(pointer);
  return object.contains(at) && object[at].is_boolean() && object[at].get<bool>();
}

// --- Statuses ---

bool IsRayJobActive(const Json& status) {
  const std::string at = TextIn(status, "jobDeploymentStatus");
  return !at.empty() && at != "Suspended" && at != "Complete" && at != "Failed";
}

bool IsRayClusterActive(const Json& status) {
  const std::string state = TextIn(status, "state");
  return (!state.empty() && state != "suspended") || CountIn(status, "availableWorkerReplicas") > 0 ||
         IsTrue(Field(status, "conditions"), "HeadPodReady");
}

bool IsRayServiceActive(const Json& status) {
  if (IsTrue(Field(status, "conditions"), "Ready")) return true;
  for (const char* service : {"activeServiceStatus", "pendingServiceStatus"})
    if (IsRayClusterActive(Field(Field(status, service), "rayClusterStatus"))) return true;
  return false;
}

bool IsJobActive(const Json& status) { return CountIn(status, "active") > 0 || CountIn(status, "terminating") > 0; }

bool IsJobSetActive(const Json& status) {
  const Json& jobs = Field(status, "replicatedJobsStatus");
  return jobs.is_array() && std::ranges::any_of(jobs, [](const Json& job) { return CountIn(job, "active") > 0; });
}

bool AreReplicasActive(const Json& status) {
  const Json& types = Field(status, "replicaStatuses");
  return types.is_object() && std::ranges::any_of(types, [](const Json& type) { return CountIn(type, "active") > 0; });
}

// --- Whether pods are ready ---

int64_t CountOr(int64_t absent, const Json& object, std::string_view key) {
  return Field(object, key).is_null() ? absent : CountIn(object, key);
}

// Of a Job's pods, how many run at a time, and how many have to end well.
struct JobSize {
  int64_t parallelism, completions;
};
JobSize SizeOfJob(const Json& spec) {
  const int64_t parallelism = CountOr(1, spec, "parallelism");
  return {parallelism, CountOr(parallelism, spec, "completions")};
}

bool IsRayJobReady(const Json& body) { return TextIn(Field(StatusIn(body), "rayClusterStatus"), "state") == "ready"; }

bool IsRayClusterReady(const Json& body) { return TextIn(StatusIn(body), "state") == "ready"; }

bool IsRayServiceReady(const Json& body) { return IsTrue(Field(StatusIn(body), "conditions"), "Ready"); }

bool IsJobReady(const Json& body) {
  const Json& status = StatusIn(body);
  const JobSize size = SizeOfJob(Field(body, "spec"));
  return CountIn(status, "ready") + CountIn(status, "succeeded") >= std::min(size.parallelism, size.completions);
}

bool IsJobSetReady(const Json& body) {
  int64_t wanted = 0, ready = 0;
  for (const Json& job : ListIn(Field(body, "spec"), "replicatedJobs")) wanted += CountOr(1, job, "replicas");
  for (const Json& job : ListIn(StatusIn(body), "replicatedJobsStatus"))
    ready += CountIn(job, "ready") + CountIn(job, "succeeded");
  return ready >= wanted;
}

bool IsWrapperActive(const Json& status) { return IsTrue(Field(status, "conditions"), "QuotaReserved"); }

bool IsWrapperReady(const Json& body) { return IsTrue(Field(StatusIn(body), "conditions"), "PodsReady"); }

bool AreReplicasReady(const Json& body) { return IsTrue(Field(StatusIn(body), "conditions"), "Running"); }

// --- The table ---

JobKind Replicated(const char* resource, const char* kind, const char* version = "v1") {
  return {{"kubeflow.org", resource, kind, {version}},
          fmt::format("kubeflow.org/{}-kueue-controller", base::LowerCase(kind)),
          "/spec/runPolicy/suspend",
          false,
          true,
          AreReplicasActive,
          AreReplicasReady};
}

// Of these only objects with a queue's label are asked for, as there are many others.
JobKind ByPods(const char* group, const char* resource, const char* kind, PodOwner pods) {
  JobKind row;
  row.kind = {group, resource, kind, {"v1"}, std::string(kQueueLabel)};
  row.reporter = fmt::format("{}{}{}-kueue-controller", group, *group ? "/" : "", base::LowerCase(kind));
  row.pods = pods;
  return row;
}

const std::vector<JobKind>& Table() {
  static const std::vector<JobKind> table = {
      {{"ray.io", "rayjobs", "RayJob", {"v1", "v1alpha1"}},
       "ray.io/rayjob-kueue-controller",
       "/spec/suspend",
       true,
       true,
       IsRayJobActive,
       IsRayJobReady},
      {{"ray.io", "rayclusters", "RayCluster", {"v1", "v1alpha1"}},
       "ray.io/raycluster-kueue-controller",
       "/spec/suspend",
       false,
       true,
       IsRayClusterActive,
       IsRayClusterReady},
      {{"ray.io", "rayservices", "RayService", {"v1", "v1alpha1"}},
       "ray.io/rayservice-kueue-controller",
       "/spec/rayClusterConfig/suspend",
       false,
       true,
       IsRayServiceActive,
       IsRayServiceReady},
      {{"batch", "jobs", "Job", {"v1"}},
       "batch/job-kueue-controller",
       "/spec/suspend",
       false,
       false,
       IsJobActive,
       IsJobReady},
      {{"jobset.x-k8s.io", "jobsets", "JobSet", {"v1alpha2"}},
       "jobset.x-k8s.io/jobset-kueue-controller",
       "/spec/suspend",
       false,
       false,
       IsJobSetActive,
       IsJobSetReady},
      {{"workload.codeflare.dev", "appwrappers", "AppWrapper", {"v1beta2", "v1beta1"}, "", /*is_record=*/true},
       "workload.codeflare.dev/appwrapper-kueue-controller",
       "/spec/suspend",
       true,
       true,
       IsWrapperActive,
       IsWrapperReady,
       PodOwner::kNone,
       true},
      Replicated("jaxjobs", "JAXJob"),
      Replicated("mpijobs", "MPIJob", "v2beta1"),
      Replicated("paddlejobs", "PaddleJob"),
      Replicated("pytorchjobs", "PyTorchJob"),
      Replicated("tfjobs", "TFJob"),
      Replicated("xgboostjobs", "XGBoostJob"),
      ByPods("", "pods", "Pod", PodOwner::kItself),
      ByPods("apps", "deployments", "Deployment", PodOwner::kDeployment),
      ByPods("apps", "statefulsets", "StatefulSet", PodOwner::kStatefulSet),
      ByPods("leaderworkerset.x-k8s.io", "leaderworkersets", "LeaderWorkerSet", PodOwner::kLeaderWorkerSet),
  };
  return table;
}

// --- Templates ---

void MergeInto(const model::StringMap& values, Json* into) {
  if (values.empty()) return;
  if (!into->is_object()) *into = Json::object();
  for (const auto& [key, value] : values) (*into)[key] = value;
}

// Null where the pointer leads nowhere.
Json* At(Json& body, const std::string& path) {
  const Json::json_pointer pointer(path);
  return body.contains(pointer) ? &body[pointer] : nullptr;
}

void Grant(const JobKind& kind, const PodSetGrant& grant, Json* pod_template) {
  GrantTo(grant, pod_template);
  if (!kind.free_templates) return;
  Json& spec = (*pod_template)["spec"];
  if (const std::string named = TextIn(spec, "schedulerName"); named.empty() || named == "default-scheduler")
    spec["schedulerName"] = grant.scheduler_name;
}

// What Grant writes, as `original` has it.
void Restore(const JobKind& kind, const Json& original, Json* pod_template) {
  const auto restore = [](const Json& from, std::string_view key, Json* to) {
    const Json& value = Field(from, key);
    if (value.is_null())
      to->erase(std::string(key));
    else
      (*to)[std::string(key)] = value;
  };
  if (Json& meta = (*pod_template)["metadata"]; meta.is_object())
    for (const char* key : {"labels", "annotations"}) restore(Field(original, "metadata"), key, &meta);
  if ((*pod_template)["metadata"].empty() && Field(original, "metadata").empty()) pod_template->erase("metadata");
  Json& spec = (*pod_template)["spec"];
  if (!spec.is_object()) return;
  for (const char* key : {"nodeSelector", "tolerations"}) restore(Field(original, "spec"), key, &spec);
  if (kind.free_templates) restore(Field(original, "spec"), "schedulerName", &spec);
}

// KubeRay's template of a submitter that has none of its own.
Json DefaultSubmitter(const Json& body) {
  Json pod_template = TemplateOf(Json::object(), {.name = "", .path = "/spec/submitterPodTemplate"});
  const Json::json_pointer image("/spec/rayClusterSpec/headGroupSpec/template/spec/containers/0/image");
  if (body.contains(image)) pod_template["spec"]["containers"][0]["image"] = body[image];
  return pod_template;
}

// Such a submitter gets that template, so that its pod can be told.
void GiveTemplate(const PodSet& set, Json* body) {
  if (set.late && !At(*body, set.path)) (*body)[Json::json_pointer(set.path)] = DefaultSubmitter(*body);
}

// Takes out what the template of a set was granted that its Workload does not have, and the template if it was given.
void TakeBack(const PodSet& set, const std::string& scheduler_name, Json* body) {
  Json* pod_template = set.late ? At(*body, set.path) : nullptr;
  if (!pod_template || !pod_template->is_object()) return;
  const auto take_out = [](Json& of, const char* part, std::initializer_list<std::string_view> keys) {
    if (!of.is_object() || !of.contains(part) || !of[part].is_object()) return;
    for (const std::string_view key : keys) of[part].erase(std::string(key));
    if (of[part].empty()) of.erase(part);
  };
  if (pod_template->contains("metadata")) {
    take_out((*pod_template)["metadata"], "labels", {kPodSetLabel, kClusterQueueLabel, kLocalQueueLabel});
    take_out((*pod_template)["metadata"], "annotations", {kWorkloadAnnotation});
    if ((*pod_template)["metadata"].empty()) pod_template->erase("metadata");
  }
  if (TextIn(Field(*pod_template, "spec"), "schedulerName") == scheduler_name)
    (*pod_template)["spec"].erase("schedulerName");
  if (*pod_template == DefaultSubmitter(*body)) (*body)["spec"].erase("submitterPodTemplate");
}

// --- What stands beside templates ---

constexpr const char kInfos[] = "podSetInfos";

Json InfoOf(const PodSetGrant& grant) {
  Json info = Json::object();
  const auto add = [&](const char* field, const model::StringMap& values) {
    if (!values.empty()) MergeInto(values, &info[field]);
  };
  add("labels", grant.labels);
  add("annotations", grant.annotations);
  add("nodeSelector", grant.node_selector);
  if (!grant.tolerations.empty()) info["tolerations"] = grant.tolerations;
  return info;
}

Json* ComponentOf(const PodSet& set, Json* body) {
  const Json::json_pointer wrapped(SplitAtComponent(set.path).first);
  Json* component = At(*body, wrapped.parent_pointer().to_string());
  return component && component->is_object() ? component : nullptr;
}

void ClearInfos(const std::vector<PodSet>& sets, Json* body) {
  for (const PodSet& set : sets)
    if (Json* component = ComponentOf(set, body)) component->erase(kInfos);
}

// One for each set, in the order of the component's sets.
void SetInfos(const std::vector<PodSet>& sets, const std::vector<PodSetGrant>& grants, Json* body) {
  ClearInfos(sets, body);
  for (const PodSet& set : sets) {
    const auto grant = std::ranges::find(grants, set.name, &PodSetGrant::name);
    Json* component = ComponentOf(set, body);
    if (component && grant != grants.end()) (*component)[kInfos].push_back(InfoOf(*grant));
  }
}

bool FollowsCompletions(const Json& body) {
  return TextIn(Field(Field(body, "metadata"), "annotations"), kCompletionsFollow) == "true";
}

// Only a Job with that annotation may have fewer pods than it asks for.
void SetParallelism(const JobKind& kind, int64_t count, Json* body) {
  if (kind.kind.kind != "Job" || !Field(Field(Field(*body, "metadata"), "annotations"), kMinParallelism).is_string())
    return;
  Json& spec = (*body)["spec"];
  spec["parallelism"] = count;
  if (FollowsCompletions(*body)) spec["completions"] = count;
}

// Whether it is made by another job, or uses a cluster that is there already.
bool IsLeftAlone(const model::Object& job) {
  if (const model::OwnerReference* owner = job.meta.Controller()) return MakesJobs(owner->kind);
  const Json& spec = Field(*job.body, "spec");
  if (job.kind == "AppWrapper") return Field(spec, "components").is_null();  // of v1beta1
  return job.kind == "RayJob" && !Field(spec, "clusterSelector").empty() && Field(spec, "rayClusterSpec").is_null();
}

}  // namespace

const std::vector<JobKind>& JobKinds() { return Table(); }

const JobKind& GroupKind() {
  static const JobKind kind = [] {
    JobKind row = ByPods("", "podgroups", "PodGroup", PodOwner::kGroup);
    row.reporter = "pod-kueue-controller";
    return row;
  }();
  return kind;
}

const JobKind* FindJobKind(std::string_view name) {
  for (const JobKind& row : Table())
    if (row.kind.Name() == name) return &row;
  return nullptr;
}

const JobKind* FindJobKind(const model::Object& object) {
  for (const JobKind& row : Table())
    if (row.kind.kind == object.kind && row.kind.group == object.group) return &row;
  return nullptr;
}

bool IsSuspended(const JobKind& kind, const Json& body) { return IsFlagSet(body, kind.suspend); }

bool IsReleased(const JobKind& kind, const Json& body) {
  return !IsSuspended(kind, body) || kind.is_active(StatusIn(body));
}

std::map<std::string, int64_t> DoneOf(const JobKind& kind, const std::vector<PodSet>& sets, const Json& body) {
  std::map<std::string, int64_t> done;
  const Json &spec = Field(body, "spec"), &status = StatusIn(body);
  if (kind.kind.kind == "Job" && sets.size() == 1) {
    const auto [parallelism, completions] = SizeOfJob(spec);
    const int64_t succeeded = CountIn(status, "succeeded"), left = std::max<int64_t>(0, completions - succeeded);
    if (succeeded > 0 && left < parallelism) done[sets.front().name] = parallelism - left;
  } else if (kind.kind.kind == "JobSet") {
    for (const Json& job : ListIn(spec, "replicatedJobs")) {
      const int64_t replicas = CountOr(1, job, "replicas");
      const auto set = std::ranges::find(sets, TextIn(job, "name"), &PodSet::name);
      if (set == sets.end() || replicas == 0) continue;
      for (const Json& each : ListIn(status, "replicatedJobsStatus"))
        if (TextIn(each, "name") == set->name && CountIn(each, "succeeded") > 0)
          done[set->name] = set->count / replicas * std::min(replicas, CountIn(each, "succeeded"));
    }
  }
  return done;
}

std::string WhyNotHeld(const JobKind& kind, const Json& body) {
  if (kind.kind.kind != "RayJob") return {};
  const Json& spec = Field(body, "spec");
  if (!Field(spec, "clusterSelector").empty())
    return "spec.clusterSelector: Invalid value: a kueue managed job should not use an existing cluster";
  if (Field(spec, "rayClusterSpec").is_null())
    return "spec.rayClusterSpec: Required value: rayClusterSpec is required for Kueue-managed jobs that don't use "
           "clusterSelector";
  if (!IsFlagSet(body, "/spec/shutdownAfterJobFinishes"))
    return "spec.shutdownAfterJobFinishes: Invalid value: false: a kueue managed job should delete the cluster after "
           "finishing";
  return {};
}

bool MakesJobs(std::string_view kind) {
  static constexpr std::string_view kMakers[] = {"AppWrapper",      "JAXJob",   "Job",        "JobSet",
                                                 "LeaderWorkerSet", "MPIJob",   "PaddleJob",  "PyTorchJob",
                                                 "RayCluster",      "RayJob",   "RayService", "SparkApplication",
                                                 "TFJob",           "TrainJob", "XGBoostJob"};
  return std::ranges::find(kMakers, kind) != std::end(kMakers);
}

bool WaitsInQueue(const model::Object& job) {
  const std::string* queue = model::Find(job.meta.labels, kQueueLabel);
  return queue && !queue->empty() && !IsLeftAlone(job);
}

std::optional<JobEnd> EndOf(const JobKind& kind, const Json& body) {
  const Json& status = StatusIn(body);
  if (kind.kind.kind == "RayJob") {
    const std::string at = TextIn(status, "jobDeploymentStatus");
    if (at != "Complete" && at != "Failed") return std::nullopt;
    return JobEnd{TextIn(status, "jobStatus") == "SUCCEEDED", OneLine(TextIn(status, "message"))};
  }
  if (kind.is_wrapper) {
    const std::string phase = TextIn(status, "phase");
    if (phase == "Succeeded") return JobEnd{true, "AppWrapper finished successfully"};
    if (phase == "Failed" && !IsTrue(Field(status, "conditions"), "ResourcesDeployed"))
      return JobEnd{false, "AppWrapper failed"};
    return std::nullopt;
  }
  const Json* failed = nullptr;
  for (const Json& condition : ListIn(status, "conditions")) {
    const std::string type = TextIn(condition, "type");
    const bool good = type == "Complete" || type == "Completed" || type == "Succeeded";
    if ((!good && type != "Failed") || TextIn(condition, "status") != "True") continue;
    if (good) return JobEnd{true, OneLine(TextIn(condition, "message"))};
    failed = &condition;
  }
  if (failed) return JobEnd{false, OneLine(TextIn(*failed, "message"))};
  return std::nullopt;
}

bool TakesFlag(const JobKind& kind, const Json& body) {
  const Json* here = &body;
  for (Json::json_pointer at(kind.suspend); !at.empty();) {
    std::vector<std::string> keys;
    for (; !at.empty(); at.pop_back()) keys.push_back(at.back());
    for (size_t i = keys.size(); i > 1; --i) {
      if (!here->is_object()) return here->is_null();
      here = &Field(*here, keys[i - 1]);
    }
  }
  return here->is_object() || here->is_null();
}

void RemoveGate(std::string_view gate, Json* spec) {
  const auto at = spec->find("schedulingGates");
  if (at == spec->end() || !at->is_array()) return;
  std::erase_if(at->get_ref<Json::array_t&>(), [&](const Json& each) { return Field(each, "name") == gate; });
  if (at->empty()) spec->erase(at);
}

void GrantTo(const PodSetGrant& grant, Json* pod_template) {
  Json& meta = (*pod_template)["metadata"];
  if (!meta.is_object()) meta = Json::object();
  MergeInto(grant.labels, &meta["labels"]);
  MergeInto(grant.annotations, &meta["annotations"]);
  Json& spec = (*pod_template)["spec"];
  if (!spec.is_object()) spec = Json::object();
  RemoveGate(kElasticGate, &spec);
  if (!grant.node_selector.empty()) MergeInto(grant.node_selector, &spec["nodeSelector"]);
  if (grant.tolerations.empty()) return;
  Json& tolerations = spec["tolerations"];
  if (!tolerations.is_array()) tolerations = Json::array();
  for (const Json& each : grant.tolerations)
    if (std::ranges::find(tolerations, each) == tolerations.end()) tolerations.push_back(each);
}

Json TolerationJson(const model::Toleration& toleration) {
  Json json = Json::object();
  const auto add = [&](const char* field, const std::string& value) {
    if (!value.empty()) json[field] = value;
  };
  add("key", toleration.key);
  add("operator", toleration.op);
  add("value", toleration.value);
  add("effect", toleration.effect);
  return json;
}

Json Suspended(const JobKind& kind, Json body) {
  body[Json::json_pointer(kind.suspend)] = true;
  return body;
}

Json Started(const JobKind& kind, const std::vector<PodSet>& sets, const std::vector<PodSetGrant>& grants, Json body) {
  if (kind.is_wrapper) SetInfos(sets, grants, &body);
  for (const PodSetGrant& grant : grants) {
    const auto set = std::ranges::find(sets, grant.name, &PodSet::name);
    if (set == sets.end() || kind.is_wrapper) continue;
    GiveTemplate(*set, &body);
    if (Json* pod_template = At(body, set->path); pod_template && pod_template->is_object())
      Grant(kind, grant, pod_template);
    if (grant.count < set->count) SetParallelism(kind, grant.count, &body);
  }
  const Json::json_pointer flag(kind.suspend);
  if (kind.omits_false && body.contains(flag))
    body[flag.parent_pointer()].erase(flag.back());
  else if (!kind.omits_false)
    body[flag] = false;
  return body;
}

bool HasGrants(const JobKind& kind, const std::vector<PodSet>& sets, const Json& body) {
  if (kind.is_wrapper)
    return std::ranges::any_of(ListIn(Field(body, "spec"), "components"),
                               [](const Json& component) { return !Field(component, kInfos).empty(); });
  return std::ranges::any_of(sets, [&](const PodSet& set) {
    const Json::json_pointer at(set.path);
    return body.contains(at) && Field(Field(Field(body[at], "metadata"), "labels"), kPodSetLabel).is_string();
  });
}

Json Stopped(const JobKind& kind, const std::vector<PodSet>& sets, const Json& pod_sets,
             const std::string& scheduler_name, Json body) {
  if (kind.is_wrapper) {
    ClearInfos(sets, &body);
    return Suspended(kind, std::move(body));
  }
  for (const Json& original : AsList(pod_sets)) {
    const auto set = std::ranges::find(sets, TextIn(original, "name"), &PodSet::name);
    if (set == sets.end()) continue;
    if (Json* pod_template = At(body, set->path); pod_template && pod_template->is_object())
      Restore(kind, Field(original, "template"), pod_template);
    if (const int64_t count = CountIn(original, "count"); count > 0) SetParallelism(kind, count, &body);
  }
  for (const PodSet& set : sets) TakeBack(set, scheduler_name, &body);
  return Suspended(kind, std::move(body));
}

Json MergeBetween(const Json& from, const Json& to) {
  if (!from.is_object() || !to.is_object()) return to;
  Json patch = Json::object();
  for (const auto& [key, value] : from.items())
    if (!to.contains(key)) patch[key] = nullptr;
  for (const auto& [key, value] : to.items()) {
    const auto before = from.find(key);
    if (before == from.end()) {
      patch[key] = value;
    } else if (*before != value) {
      patch[key] = MergeBetween(*before, value);
    }
  }
  return patch;
}

}  // namespace tutti::dialects::kueue
