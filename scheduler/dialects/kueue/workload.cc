// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/json_string.h"
#include "base/text.h"
#include "cluster/json_text.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/topology_assignment.h"
#include "dialects/kueue_topology.h"
#include "dialects/topology_annotations.h"
#include "dialects/wording.h"

namespace tutti::dialects::kueue {

using base::Json;
using cluster::JsonField;
using cluster::JsonReader;

namespace {

constexpr size_t kMostPodSets = 256, kMostLayers = 16;
constexpr size_t kLongestValueShown = 64;
constexpr int64_t kLongestSeconds = 999'999'999;
constexpr int kMostSetsOfJob = 18;  // that the API server takes in a Workload
constexpr std::string_view kRequired = "kueue.x-k8s.io/podset-required-topology",
                           kPreferred = "kueue.x-k8s.io/podset-preferred-topology",
                           kUnconstrained = "kueue.x-k8s.io/podset-unconstrained-topology",
                           kSliceLevel = "kueue.x-k8s.io/podset-slice-required-topology",
                           kSliceSize = "kueue.x-k8s.io/podset-slice-size",
                           kLayers = "kueue.x-k8s.io/podset-slice-required-topology-constraints",
                           kSetGroup = "kueue.x-k8s.io/podset-group-name";
constexpr const char* kWorkloadClass = "kueue.x-k8s.io/workloadpriorityclass";
constexpr const char* kPodClass = "scheduling.k8s.io/priorityclass";

// Limits count as requests where there are none, as in a pod that is created.
void FillRequests(Json* pod_template) {
  Json& spec = (*pod_template)["spec"];
  if (!spec.is_object()) return;
  for (const char* list : {"initContainers", "containers"}) {
    const auto containers = spec.find(list);
    if (containers == spec.end() || !containers->is_array()) continue;
    for (Json& container : *containers) {
      const Json limits = Field(Field(container, "resources"), "limits");
      if (!limits.is_object()) continue;
      Json& requests = container["resources"]["requests"];
      if (!requests.is_object()) requests = Json::object();
      for (const auto& [name, amount] : limits.items())
        if (!requests.contains(name)) requests[name] = amount;
    }
  }
}

// Null: the template asks for no topology.
Json TopologyFor(const Json& job, const Json& pod_template) {
  const Json& annotations = Field(Field(pod_template, "metadata"), "annotations");
  Json request = Json::object();
  const auto take = [&](std::string_view annotation, const char* field) {
    if (const std::string value = TextIn(annotations, annotation); !value.empty()) request[field] = value;
  };
  take(kRequired, "required");
  take(kPreferred, "preferred");
  take(kSliceLevel, "podSetSliceRequiredTopology");
  take(kSetGroup, "podSetGroupName");
  if (TextIn(annotations, kUnconstrained) == "true") request["unconstrained"] = true;
  if (const auto size = WholeNumber(TextIn(annotations, kSliceSize)); size && *size > 0 && *size <= kLargestCount)
    request["podSetSliceSize"] = *size;
  if (Json layers = cluster::ParseJson(TextIn(annotations, kLayers)); layers.is_array())
    request["podsetSliceRequiredTopologyConstraints"] = std::move(layers);
  if (request.empty()) return nullptr;
  if (TextIn(job, "kind") == "Job") request["podIndexLabel"] = "batch.kubernetes.io/job-completion-index";
  return request;
}

// Its text of the fewest pods to start with; empty: it does not say, or is of a kind that cannot.
std::string FewestIn(const Json& job) {
  const Json& annotations = Field(Field(job, "metadata"), "annotations");
  if (TextIn(job, "kind") != "Job" || TextIn(annotations, kElastic) == "true") return {};
  return TextIn(annotations, kMinParallelism);
}

// The fewest pods that the job may start with; 0: all.
int64_t FewestOf(const Json& job, int64_t count) {
  const int64_t fewest = WholeNumber(FewestIn(job)).value_or(0);
  return fewest > 0 && fewest < count ? fewest : 0;
}

std::string WrongValue(const char* where, std::string_view key, std::string_view value, const std::string& why) {
  return fmt::format("{}[{}]: Invalid value: {}: {}", where, key, value, why);
}

std::string NoNumber(const char* where, std::string_view key, const std::string& text) {
  const std::string quoted = base::PrintJson(base::Cut(text, kLongestValueShown));
  return WrongValue(where, key, quoted, fmt::format("strconv.Atoi: parsing {}: invalid syntax", quoted));
}

Json SetsAsJson(const Json& job, const std::vector<PodSet>& sets, bool late) {
  Json out = Json::array();
  for (const PodSet& set : sets)
    if (set.late == late) out.push_back(PodSetJson(set.name, set.count, TemplateOf(job, set), job));
  return out;
}

model::StringMap AsAnnotations(JsonReader& read, const JsonField& request) {
  model::StringMap map;
  const auto add = [&](std::string_view key, std::string value) {
    if (!value.empty()) map.emplace_back(key, std::move(value));
  };
  add(kRequired, read.Text(request["required"]));
  add(kPreferred, read.Text(request["preferred"]));
  add(kSetGroup, read.Text(request["podSetGroupName"]));
  std::string level = read.Text(request["podSetSliceRequiredTopology"]);
  int64_t size = ReadCount(read, request["podSetSliceSize"], 0, 0);
  read.Items(request["podsetSliceRequiredTopologyConstraints"], [&](const JsonField& constraint) {
    if (!level.empty()) return;
    level = read.Text(constraint["topology"]);
    size = ReadCount(read, constraint["size"], 0, 0);
  });
  add(kSliceLevel, level);
  if (size > 0) add(kSliceSize, fmt::format("{}", size));
  std::ranges::sort(map);
  return map;
}

void ReadTopologyRequest(JsonReader& read, const JsonField& request, RoleRead* role) {
  if (!request.present()) return;
  const model::StringMap annotations = AsAnnotations(read, request);
  role->ask.in_topology =
      ReadKueueTopology(annotations, role->ask.name, &role->topology) || read.Flag(request["unconstrained"]);
  role->ask.group = read.Text(request["podSetGroupName"]);
  const Json& layers = ListIn(request.value(), "podsetSliceRequiredTopologyConstraints");
  for (size_t i = 1; i < layers.size() && i < kMostLayers; ++i)
    role->topology.inner_slices.push_back({TextIn(layers[i], "topology"), CountIn(layers[i], "size")});
  if (!role->topology.problem.empty()) read.Problem(request, role->topology.problem);
}

void NameScheduler(JsonReader& read, const JsonField& pod_template, const std::vector<std::string>& names,
                   model::Pod* pod) {
  const std::string& named = pod->spec->scheduler_name;
  if (named.empty() || named == "default-scheduler") {
    model::PodSpec spec = *pod->spec;
    spec.scheduler_name = names.front();
    pod->spec = std::make_shared<const model::PodSpec>(std::move(spec));
  } else if (std::ranges::find(names, named) == names.end()) {
    read.Problem(pod_template,
                 fmt::format("schedulerName {} is not served; write {}, or leave it out", Named(named), names.front()));
  }
}

// --- Status ---

// `failed`: the nodes that its status says have failed.
model::HeldQuota ReadAdmission(JsonReader& read, const JsonField& admission, const std::set<std::string>& failed) {
  model::HeldQuota quota;
  const JsonField sets = admission["podSetAssignments"];
  quota.leaf = read.Text(admission["clusterQueue"]);
  if (!FewEnough(read, sets, kMostPodSets)) return quota;
  read.Items(sets, [&](const JsonField& set) {
    model::HeldQuota::Role role;
    role.name = read.Text(set["name"]);
    role.count = ReadCount(read, set["count"], 1, 0);
    role.requests = ReadRequests(read, set["resourceUsage"]).value_or(model::ResourceList());
    role.places = ReadTopologyAssignment(Field(set.value(), "topologyAssignment"), failed);
    read.Values(set["flavors"], [&](std::string_view resource, const JsonField& flavor) {
      role.flavors.emplace(resource, read.Text(flavor));
    });
    quota.roles.push_back(std::move(role));
  });
  return quota;
}

}  // namespace

base::Result<std::vector<PodSet>> SetsOf(const Json& job) {
  auto sets = PodSetsOf(job);
  if (!sets) return sets;
  if (const auto count = std::ranges::count(*sets, false, &PodSet::late); count > kMostSetsOfJob)
    return base::Invalid(
        fmt::format("it has {} groups of pods, and a Workload has at most {}; have fewer", count, kMostSetsOfJob));
  std::set<std::string> taken;
  for (PodSet& set : *sets) {
    set.name = base::LowerCase(set.name);
    if (!taken.insert(set.name).second)
      return base::Invalid(
          fmt::format("two groups of pods have the name {} in lower case; give one another name", Named(set.name)));
  }
  return sets;
}

Json PodSetJson(const std::string& name, int64_t count, Json pod_template, const Json& job) {
  if (pod_template.is_object()) FillRequests(&pod_template);
  Json pod_set = {{"name", name}, {"count", count}};
  if (const int64_t fewest = FewestOf(job, count); fewest > 0) pod_set["minCount"] = fewest;
  if (Json request = TopologyFor(job, pod_template); !request.is_null())
    pod_set["topologyRequest"] = std::move(request);
  pod_set["template"] = pod_template.is_object() ? std::move(pod_template) : Json::object();
  return pod_set;
}

int64_t MaxSecondsIn(const model::StringMap& labels) {
  const std::string* text = model::Find(labels, kMaxTimeLabel);
  const int64_t seconds = text ? WholeNumber(*text).value_or(0) : 0;
  return seconds > 0 && seconds <= kLongestSeconds ? seconds : 0;
}

std::string WrongTermIn(const Json& job) {
  constexpr const char *kLabels = "metadata.labels", *kAnnotations = "metadata.annotations";
  if (const std::string text = TextIn(Field(Field(job, "metadata"), "labels"), kMaxTimeLabel); !text.empty()) {
    const auto seconds = WholeNumber(text);
    if (!seconds) return NoNumber(kLabels, kMaxTimeLabel, text);
    if (*seconds <= 0) return WrongValue(kLabels, kMaxTimeLabel, text, "should be greater than 0");
    if (*seconds > kLongestSeconds)
      return WrongValue(kLabels, kMaxTimeLabel, text, fmt::format("should be at most {}", kLongestSeconds));
  }
  if (const std::string text = FewestIn(job); !text.empty()) {
    const auto fewest = WholeNumber(text);
    if (!fewest) return NoNumber(kAnnotations, kMinParallelism, text);
    if (*fewest <= 0) return WrongValue(kAnnotations, kMinParallelism, text, "should be greater than 0");
  }
  return {};
}

Json PodSetsFor(const Json& job, const std::vector<PodSet>& sets) { return SetsAsJson(job, sets, false); }

Json LateSetsOf(const Json& job, const std::vector<PodSet>& sets) { return SetsAsJson(job, sets, true); }

Json SpecFor(const Json& pod_sets, const Terms& terms) {
  Json spec = {{"podSets", pod_sets},
               {"queueName", terms.queue},
               {"priority", terms.priority},
               {"priorityClassName", nullptr},
               {"priorityClassSource", nullptr},
               {"priorityClassRef", nullptr},
               {"maximumExecutionTimeSeconds", nullptr}};
  if (!terms.priority_class.empty()) {
    spec["priorityClassName"] = terms.priority_class;
    spec["priorityClassSource"] = terms.workload_class ? kWorkloadClass : kPodClass;
    spec["priorityClassRef"] = {{"group", terms.workload_class ? std::string(kGroup) : "scheduling.k8s.io"},
                                {"kind", terms.workload_class ? "WorkloadPriorityClass" : "PriorityClass"},
                                {"name", terms.priority_class}};
  }
  if (terms.max_seconds > 0) spec["maximumExecutionTimeSeconds"] = terms.max_seconds;
  return spec;
}

Json OwnerReferenceTo(const model::Object& owner) {
  return {{"apiVersion", owner.group.empty() ? owner.version : fmt::format("{}/{}", owner.group, owner.version)},
          {"kind", owner.kind},
          {"name", owner.meta.name},
          {"uid", TextIn(Field(*owner.body, "metadata"), "uid")}};
}

Json NewWorkload(const model::Object& job, std::string_view version, const std::string& name, const Json& pod_sets,
                 const Terms& terms) {
  Json spec = {{"active", true}};
  spec.merge_patch(SpecFor(pod_sets, terms));
  Json owner = OwnerReferenceTo(job);
  owner["controller"] = true;
  return {{"apiVersion", fmt::format("{}/{}", kGroup, version)},
          {"kind", "Workload"},
          {"metadata",
           {{"name", name},
            {"namespace", job.meta.ns},
            {"labels", {{std::string(kJobUidLabel), owner["uid"]}}},
            {"finalizers", Json::array({std::string(kInUse)})},
            {"ownerReferences", Json::array({owner})}}},
          {"spec", std::move(spec)}};
}

WorkloadRead ReadWorkload(const model::Object& workload) {
  JsonReader read;
  const JsonField root(*workload.body), spec = root["spec"], status = root["status"], ref = spec["priorityClassRef"],
                                        requeue = status["requeueState"];
  WorkloadRead out;
  out.terms.queue = read.Text(spec["queueName"]);
  out.terms.priority = static_cast<int32_t>(
      ReadCount(read, spec["priority"], 0, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  out.terms.priority_class = read.Text(ref["name"]);
  out.terms.workload_class = read.Text(ref["group"]) == kGroup;
  if (out.terms.priority_class.empty()) {
    out.terms.priority_class = read.Text(spec["priorityClassName"]);
    out.terms.workload_class = read.Text(spec["priorityClassSource"]) == kWorkloadClass;
  }
  out.terms.max_seconds = ReadCount(read, spec["maximumExecutionTimeSeconds"], 0, 0);
  out.active = !spec["active"].present() || read.Flag(spec["active"]);
  const Json& conditions = Field(status.value(), "conditions");
  if (const Json* finished = FindTrue(conditions, "Finished")) {
    out.replaced = TextIn(*finished, "reason") == kSliceReplaced;
    out.finished = !out.replaced;
  }
  if (const Json* target = FindTrue(conditions, "DeactivationTarget")) out.deactivates = TextIn(*target, "reason");
  if (const Json* evicted = FindTrue(conditions, "Evicted")) {
    out.evicted_reason = TextIn(*evicted, "reason");
    out.evicted_ms = TimeIn(*evicted, "lastTransitionTime");
  }
  if (const Json* ready = FindTrue(conditions, "PodsReady")) out.ready_ms = TimeIn(*ready, "lastTransitionTime");
  if (const Json* admitted = FindTrue(conditions, "Admitted"))
    out.admitted_ms = TimeIn(*admitted, "lastTransitionTime");
  const Json* reserved = FindTrue(conditions, "QuotaReserved");
  if (const JsonField admission = status["admission"]; admission.present() && reserved) {
    std::set<std::string> failed;
    for (const Json& node : ListIn(status.value(), "unhealthyNodes")) failed.insert(TextIn(node, "name"));
    out.has = ReadAdmission(read, admission, failed);
    out.has->ns = workload.meta.ns;
    out.has->local_queue = out.terms.queue;
    out.has->reserved_ms = TimeIn(*reserved, "lastTransitionTime");
    out.has->evicted = !out.evicted_reason.empty();
  }
  read.Items(status["admissionChecks"], [&](const JsonField& check) {
    out.checks.push_back({read.Text(check["name"]), read.Text(check["state"]), read.Text(check["message"])});
  });
  if (const JsonField done = status["reclaimablePods"]; FewEnough(read, done, kMostPodSets))
    for (const Json& set : AsList(done.value()))
      if (const int64_t count = CountIn(set, "count"); count > 0) out.done[TextIn(set, "name")] = count;
  out.requeue_at_ms = read.Time(requeue["requeueAt"], 0);
  out.replaces = Annotation(workload.meta.annotations, kReplaces);
  return out;
}

std::vector<RoleRead> ReadPodSets(JsonReader& read, const JsonField& pod_sets, std::string_view ns,
                                  const std::vector<std::string>& scheduler_names) {
  std::vector<RoleRead> roles;
  std::set<std::string> taken;
  if (!FewEnough(read, pod_sets, kMostPodSets)) return roles;
  read.Items(pod_sets, [&](const JsonField& set) {
    RoleRead role;
    role.ask.name = read.Text(set["name"]);
    if (role.ask.name.empty()) role.ask.name = "main";
    if (!taken.insert(role.ask.name).second)
      read.Problem(set["name"], fmt::format("{} is another pod set's; give one of them another", Named(role.ask.name)));
    role.ask.count = ReadCount(read, set["count"], 1, 0);
    if (set["minCount"].present()) role.ask.min_count = ReadCount(read, set["minCount"], 1, 1);
    ReadTopologyRequest(read, set["topologyRequest"], &role);
    if (auto pod = PodFromTemplate(set["template"].value(), ns, "")) {
      NameScheduler(read, set["template"], scheduler_names, &*pod);
      std::erase(pod->scheduling_gates, kElasticGate);
      role.pod = std::make_shared<const model::Pod>(std::move(*pod));
    } else {
      read.Problem(set["template"], pod.error().message);
    }
    if (role.pod) role.ask.pod = *role.pod->spec;
    roles.push_back(std::move(role));
  });
  int64_t pods = 0;
  for (const RoleRead& role : roles) pods += role.ask.count;
  if (pods <= kMostPods) return roles;
  read.Problem(pod_sets,
               fmt::format("{} pods are more than the {} that are looked at; write several jobs", pods, kMostPods));
  return {};
}

}  // namespace tutti::dialects::kueue
