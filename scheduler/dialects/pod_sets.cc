// SPDX-License-Identifier: Apache-2.0
#include "dialects/pod_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "cluster/json_decode.h"
#include "cluster/json_reader.h"
#include "dialects/appwrapper_sets.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/ray_cluster.h"
#include "dialects/wording.h"
#include "model/quantity.h"

namespace tutti::dialects {
namespace {

using base::Json;
using cluster::JsonField;
using cluster::JsonReader;
using Sets = std::vector<PodSet>;

constexpr std::string_view kOnly = "main", kHead = "head", kSubmitter = "submitter";
constexpr std::string_view kHeadTemplate = "/headGroupSpec/template", kSubmitterTemplate = "/spec/submitterPodTemplate";

// A key as a part of a JSON pointer.
std::string Step(std::string_view key) {
  std::string step = "/";
  for (const char c : key) {
    if (c == '~')
      step += "~0";
    else if (c == '/')
      step += "~1";
    else
      step += c;
  }
  return step;
}

// Null where the pointer leads nowhere.
const Json& At(const Json& object, const std::string& path) {
  static const Json none;
  const Json::json_pointer pointer(path);
  return object.contains(pointer) ? object[pointer] : none;
}

// --- Ray ---

void ReadRayCluster(JsonReader& read, const JsonField& spec, const std::string& path, Sets* sets) {
  sets->push_back({std::string(kHead), 1, path + std::string(kHeadTemplate), true});
  const JsonField groups = spec["workerGroupSpecs"];
  if (!FewEnough(read, groups, kMostRoles)) return;
  size_t index = 0;
  read.Items(groups, [&](const JsonField& group) {
    const model::RoleSpec role = ReadWorkerGroup(read, group, RayCount::kKept);
    sets->push_back({role.name, role.min, fmt::format("{}/workerGroupSpecs/{}/template", path, index++), false, true});
  });
}

void ReadCluster(JsonReader& read, const JsonField& root, Sets* sets) {
  const JsonField spec = root["spec"];
  ReadRayCluster(read, spec, "/spec", sets);
}

void ReadRayService(JsonReader& read, const JsonField& root, Sets* sets) {
  const JsonField spec = root["spec"], cluster = spec["rayClusterConfig"];
  ReadRayCluster(read, cluster, "/spec/rayClusterConfig", sets);
}

void ReadRayJob(JsonReader& read, const JsonField& root, Sets* sets) {
  const JsonField spec = root["spec"], cluster = spec["rayClusterSpec"], mode = spec["submissionMode"];
  if (cluster.present()) ReadRayCluster(read, cluster, "/spec/rayClusterSpec", sets);
  const std::string submission = read.Text(mode);
  if (submission.empty() || submission == "K8sJobMode")
    sets->push_back({std::string(kSubmitter), 1, std::string(kSubmitterTemplate), false, false, true});
}

// --- Kubernetes' own ---

void ReadReplicas(JsonReader& read, const JsonField& root, Sets* sets) {
  const JsonField spec = root["spec"];
  sets->push_back({std::string(kOnly), ReadCount(read, spec["replicas"], 1, 0), "/spec/template"});
}

// Pods of a Job that run at a time.
int64_t PodsOfJob(JsonReader& read, const JsonField& spec) {
  const int64_t parallelism = ReadCount(read, spec["parallelism"], 1, 0);
  return std::min(parallelism, ReadCount(read, spec["completions"], parallelism, 0));
}

void ReadJob(JsonReader& read, const JsonField& root, Sets* sets) {
  const JsonField spec = root["spec"];
  sets->push_back({std::string(kOnly), PodsOfJob(read, spec), "/spec/template"});
}

void ReadPod(JsonReader&, const JsonField&, Sets* sets) { sets->push_back({std::string(kOnly), 1, ""}); }

void ReadTemplate(JsonReader&, const JsonField&, Sets* sets) { sets->push_back({std::string(kOnly), 1, "/template"}); }

// --- Of their projects ---

// By the annotation, the leader of each job is to have a node before its other pods are made.
bool HasLeaders(const JsonField& holder) {
  const JsonField meta = holder["metadata"], annotations = meta["annotations"];
  return annotations["alpha.jobset.sigs.k8s.io/exclusive-topology"].present();
}

void ReadJobSet(JsonReader& read, const JsonField& root, Sets* sets) {
  const JsonField spec = root["spec"], jobs = spec["replicatedJobs"], startup = spec["startupPolicy"];
  if (!FewEnough(read, jobs, kMostRoles)) return;
  const bool in_order = read.Text(startup["startupPolicyOrder"]) == "InOrder", has_leaders = HasLeaders(root);
  size_t index = 0;
  read.Items(jobs, [&](const JsonField& job) {
    const JsonField job_template = job["template"], of_each = job_template["spec"], others = job["dependsOn"];
    const int64_t count = model::SaturatingMul(ReadCount(read, job["replicas"], 1, 0), PodsOfJob(read, of_each));
    PodSet set{read.Text(job["name"]), count, fmt::format("/spec/replicatedJobs/{}/template/spec/template", index)};
    set.ordered = has_leaders || HasLeaders(job_template);
    set.follows = (in_order && index > 0) || (others.value().is_array() && !others.value().empty());
    sets->push_back(std::move(set));
    ++index;
  });
}

// A leader and its workers, so many times. Without a template of its own the leader is as the workers are.
void ReadLeaderWorkerSet(JsonReader& read, const JsonField& root, Sets* sets) {
  const JsonField spec = root["spec"], group = spec["leaderWorkerTemplate"], leader = group["leaderTemplate"];
  const int64_t replicas = ReadCount(read, spec["replicas"], 1, 0), size = ReadCount(read, group["size"], 1, 1);
  const bool leaders_first = read.Text(spec["startupPolicy"]) == "LeaderReady";
  constexpr const char* kWorkers = "/spec/leaderWorkerTemplate/workerTemplate";
  if (!leader.present()) {
    sets->push_back({std::string(kOnly), model::SaturatingMul(replicas, size), kWorkers});
    sets->back().ordered = leaders_first;
    return;
  }
  sets->push_back({"leader", replicas, "/spec/leaderWorkerTemplate/leaderTemplate"});
  sets->push_back({"worker", model::SaturatingMul(replicas, size - 1), kWorkers});
  sets->back().follows = leaders_first;
}

// Kubeflow's kinds: a map from a replica type to how many there are and their template.
struct ReplicaKind {
  std::string_view kind, field;
  std::string_view first;  // the replica type that is listed first
};
constexpr ReplicaKind kReplicaKinds[] = {
    {"JAXJob", "jaxReplicaSpecs", "Worker"},       {"MPIJob", "mpiReplicaSpecs", "Launcher"},
    {"PaddleJob", "paddleReplicaSpecs", "Master"}, {"PyTorchJob", "pytorchReplicaSpecs", "Master"},
    {"TFJob", "tfReplicaSpecs", "Chief"},          {"XGBoostJob", "xgbReplicaSpecs", "Master"},
};

void ReadReplicaTypes(JsonReader& read, const JsonField& root, const ReplicaKind& kind, Sets* sets) {
  const JsonField spec = root["spec"], types = spec[kind.field];
  if (!FewEnough(read, types, kMostRoles)) return;
  const bool launches_last = read.Text(spec["launcherCreationPolicy"]) == "WaitForWorkersReady";  // an MPIJob's
  read.Values(types, [&](std::string_view type, const JsonField& replicas) {
    PodSet set{std::string(type), ReadCount(read, replicas["replicas"], 1, 0),
               fmt::format("/spec/{}{}/template", kind.field, Step(type))};
    set.name = base::LowerCase(set.name);
    set.follows = launches_last && type == "Launcher";
    sets->insert(type == kind.first ? sets->begin() : sets->end(), std::move(set));
  });
}

// --- All kinds ---

struct Row {
  std::string_view group, kind;
  void (*read)(JsonReader&, const JsonField& root, Sets*);
};
constexpr Row kRows[] = {
    {"", "Pod", ReadPod},
    {"", "PodTemplate", ReadTemplate},
    {"", "ReplicationController", ReadReplicas},
    {"apps", "Deployment", ReadReplicas},
    {"apps", "ReplicaSet", ReadReplicas},
    {"apps", "StatefulSet", ReadReplicas},
    {"batch", "Job", ReadJob},
    {"jobset.x-k8s.io", "JobSet", ReadJobSet},
    {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", ReadLeaderWorkerSet},
    {"ray.io", "RayCluster", ReadCluster},
    {"ray.io", "RayJob", ReadRayJob},
    {"ray.io", "RayService", ReadRayService},
    {"workload.codeflare.dev", "AppWrapper", ReadComponentSets},
};

const Row* FindRow(std::string_view group, std::string_view kind) {
  const auto row = std::ranges::find_if(kRows, [&](const Row& r) { return r.group == group && r.kind == kind; });
  return row == std::end(kRows) ? nullptr : row;
}

const ReplicaKind* FindReplicaKind(std::string_view group, std::string_view kind) {
  if (group != "kubeflow.org") return nullptr;
  const auto row = std::ranges::find(kReplicaKinds, kind, &ReplicaKind::kind);
  return row == std::end(kReplicaKinds) ? nullptr : row;
}

void CheckNames(JsonReader& read, const JsonField& root, const Sets& sets) {
  std::set<std::string_view> taken;
  for (const PodSet& set : sets) {
    if (taken.insert(set.name).second) continue;
    read.Problem(root,
                 set.name == kHead
                     ? "the name \"head\" is reserved for the head group; give the worker group another name"
                     : fmt::format("the name {} is taken; give each group of pods a name of its own", Named(set.name)));
  }
}

// --- Templates ---

Json Container(const char* name, const char* cpu, const char* memory, const char* cpu_limit, const char* memory_limit) {
  return {
      {"name", name},
      {"resources",
       {{"requests", {{"cpu", cpu}, {"memory", memory}}}, {"limits", {{"cpu", cpu_limit}, {"memory", memory_limit}}}}}};
}

// KubeRay's submitter, unless told otherwise (ray-operator, GetDefaultSubmitterContainer).
Json Submitter() { return Container("ray-job-submitter", "500m", "200Mi", "1", "1Gi"); }

Json Autoscaler(const Json& cluster) {
  Json container = Container("autoscaler", "500m", "512Mi", "500m", "512Mi");
  if (const Json& own = At(cluster, "/autoscalerOptions/resources"); own.is_object()) container["resources"] = own;
  return container;
}

void AddContainer(Json container, Json* pod_template) {
  if (!pod_template->is_object()) return;
  Json& spec = (*pod_template)["spec"];
  if (!spec.is_object()) return;
  if (Json& containers = spec["containers"]; containers.is_array()) containers.push_back(std::move(container));
}

}  // namespace

bool HasPodSets(std::string_view group, std::string_view kind) {
  return FindRow(group, kind) || FindReplicaKind(group, kind);
}

base::Result<Sets> PodSetsOf(const Json& object) {
  const std::string version = TextIn(object, "apiVersion"), kind = TextIn(object, "kind");
  const std::string_view group = SplitVersion(version).group;
  const Row* row = FindRow(group, kind);
  const ReplicaKind* replicas = FindReplicaKind(group, kind);
  if (!row && !replicas)
    return base::Fail(base::ErrorCode::kNotFound,
                      fmt::format("the pods of a {} of API group {} are not known; use a kind of job that is, such as "
                                  "RayCluster, RayJob, Job, Deployment, JobSet or Pod",
                                  Named(kind), Named(group)));
  Sets sets;
  JsonReader read;
  const JsonField root(object);
  if (row)
    row->read(read, root, &sets);
  else
    ReadReplicaTypes(read, root, *replicas, &sets);
  const JsonField spec = root["spec"];
  CheckNames(read, spec, sets);
  if (!read.ok()) return base::Invalid(read.problem());
  return sets;
}

Json TemplateOf(const Json& object, const PodSet& set) {
  if (TextIn(object, "kind") == "AppWrapper") {
    const auto [component, inner] = SplitAtComponent(set.path);
    PodSet of_component = set;
    of_component.path = inner;
    return component.empty() ? Json() : TemplateOf(At(object, component), of_component);
  }
  if (set.path.empty()) {
    Json pod_template = Json::object();
    for (const char* part : {"metadata", "spec"})
      if (const auto at = object.find(part); at != object.end()) pod_template[part] = *at;
    return pod_template;
  }
  Json pod_template = At(object, set.path);
  if (set.path == kSubmitterTemplate && !pod_template.is_object())
    return {{"spec", {{"restartPolicy", "Never"}, {"containers", Json::array({Submitter()})}}}};
  if (!set.head) return pod_template;
  const Json& cluster = At(object, set.path.substr(0, set.path.size() - kHeadTemplate.size()));
  if (const Json& autoscaled = At(cluster, "/enableInTreeAutoscaling");
      autoscaled.is_boolean() && autoscaled.get<bool>())
    AddContainer(Autoscaler(cluster), &pod_template);
  if (TextIn(object, "kind") == "RayJob" && At(object, "/spec/submissionMode") == "SidecarMode")
    AddContainer(Submitter(), &pod_template);
  return pod_template;
}

base::Result<model::Pod> PodFromTemplate(const Json& pod_template, std::string_view ns, std::string_view path) {
  Json pod = pod_template.is_object() ? pod_template : Json::object();
  std::string place(path);
  std::ranges::replace(place, '/', '.');
  if (!place.empty()) place = place.substr(1);
  if (!pod.contains("spec") || !pod["spec"].is_object())
    return base::Invalid(fmt::format("{}: has no spec; write the spec of its pods", place.empty() ? "the pod" : place));
  Json& meta = pod["metadata"];
  if (!meta.is_object()) meta = Json::object();
  meta["namespace"] = ns;
  meta["name"] = "template";
  pod["spec"].erase("nodeName");
  pod.erase("status");
  auto decoded = cluster::DecodePod(pod);
  if (!decoded)
    return base::Invalid(place.empty() ? decoded.error().message
                                       : fmt::format("{}.{}", place, decoded.error().message));
  decoded->meta.name.clear();
  decoded->meta.uid.clear();
  return std::move(*decoded);
}

}  // namespace tutti::dialects
