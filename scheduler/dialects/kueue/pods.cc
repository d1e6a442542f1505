// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_string.h"
#include "base/sha1.h"
#include "base/text.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/workload.h"
#include "dialects/wording.h"

namespace tutti::dialects::kueue {

using base::Json;

namespace {

constexpr std::string_view kSetName = "leaderworkerset.sigs.k8s.io/name",
                           kSetIndex = "leaderworkerset.sigs.k8s.io/group-index";
constexpr size_t kMostRolesOfGroup = 18;

const Json& SpecIn(const model::Object& object) { return Field(*object.body, "spec"); }

std::string LabelOf(const model::ObjectMeta& meta, std::string_view key) {
  const std::string* value = model::Find(meta.labels, key);
  return value ? *value : std::string();
}

std::string AnnotationOf(const model::ObjectMeta& meta, std::string_view key) {
  const std::string* value = model::Find(meta.annotations, key);
  return value ? *value : std::string();
}

Json ShapeOf(const Json& containers) {
  Json shape = Json::array();
  for (const Json& each : AsList(containers))
    shape.push_back({{"requests", Field(Field(each, "resources"), "requests")}, {"ports", Field(each, "ports")}});
  return shape;
}

// What the pod is scheduled by, as eight digits.
std::string DigestOf(const Json& spec) {
  Json shape = {{"initContainers", ShapeOf(Field(spec, "initContainers"))},
                {"containers", ShapeOf(Field(spec, "containers"))}};
  for (const char* field : {"nodeSelector", "affinity", "tolerations", "runtimeClassName", "priority",
                            "topologySpreadConstraints", "overhead", "resourceClaims"})
    shape[field] = Field(spec, field);
  return base::Sha1Hex(base::PrintJson(shape)).substr(0, 8);
}

bool HasGate(const Json& spec) {
  return std::ranges::any_of(ListIn(spec, "schedulingGates"),
                             [](const Json& gate) { return Field(gate, "name") == kGate; });
}

// The oldest first.
std::vector<const QueuedPod*> ByAge(const QueuedPods& pods) {
  std::vector<const QueuedPod*> sorted;
  for (const auto& [name, pod] : pods) sorted.push_back(&pod);
  std::ranges::stable_sort(sorted, {}, [](const QueuedPod* pod) { return pod->object->meta.created_ms; });
  return sorted;
}

// Of pods of one age, the first by name.
const QueuedPod& OldestOf(const QueuedPods& pods) {
  return std::ranges::min_element(pods, {}, [](const auto& item) { return item.second.object->meta.created_ms; })
      ->second;
}

bool SameText(const std::string* a, const std::string* b) {
  return a == b || (a && b ? *a == *b : (a ? a : b)->empty());
}

// As a Workload's pod set has it: as it was before it was placed, or given anything.
Json TemplateOfPod(const model::Object& pod) {
  Json spec = SpecIn(pod);
  if (!spec.is_object()) spec = Json::object();
  for (const char* field : {"nodeName", "schedulingGates"}) spec.erase(field);
  Json meta = Json::object();
  for (const char* part : {"labels", "annotations"}) {
    Json kept = Json::object();
    const Json& all = Field(Field(*pod.body, "metadata"), part);
    if (all.is_object())
      for (const auto& [key, value] : all.items())
        if (!key.starts_with("kueue.x-k8s.io/") || key.starts_with("kueue.x-k8s.io/podset-")) kept[key] = value;
    if (!kept.empty()) meta[part] = std::move(kept);
  }
  Json pod_template = {{"spec", std::move(spec)}};
  if (!meta.empty()) pod_template["metadata"] = std::move(meta);
  return pod_template;
}

void AddSet(std::string name, int64_t count, const QueuedPod& like, SetsOfPods* out) {
  out->json.push_back(PodSetJson(name, count, TemplateOfPod(*like.object), *like.object->body));
  PodSet set;
  set.name = std::move(name);
  set.count = count;
  out->sets.push_back(std::move(set));
}

// Why the pods do not agree about their group; empty: they do.
std::string Disagreement(const std::string& group, const QueuedPod& first, const QueuedPods& pods) {
  const std::string queue = LabelOf(first.object->meta, kQueueLabel),
                    total = AnnotationOf(first.object->meta, kGroupTotal);
  if (total.empty())
    return fmt::format("both the '{}' annotation and the '{}' label should be set", kGroupTotal, kGroupName);
  if (const auto number = WholeNumber(total); !number || *number < 1 || *number > kLargestCount)
    return fmt::format("incorrect annotation value '{}={}': group total count should be greater than zero", kGroupTotal,
                       Named(total));
  const model::ObjectMeta& as = first.object->meta;
  const auto agrees = [&](const model::ObjectMeta& meta) {
    return SameText(model::Find(meta.labels, kQueueLabel), model::Find(as.labels, kQueueLabel)) &&
           SameText(model::Find(meta.annotations, kGroupTotal), model::Find(as.annotations, kGroupTotal));
  };
  for (const auto& [name, pod] : pods) {
    if (!pod.counts() || agrees(pod.object->meta)) continue;
    if (const std::string other = LabelOf(pod.object->meta, kQueueLabel); other != queue)
      return fmt::format("pods '{}' and '{}' has different queue names: {}!={}", first.object->meta.name, name,
                         Named(queue), Named(other));
    if (const std::string other = AnnotationOf(pod.object->meta, kGroupTotal); other != total)
      return fmt::format("pods '{}' and '{}' has different '{}' values: {}!={}", first.object->meta.name, name,
                         kGroupTotal, Named(total), Named(other));
  }
  return group.size() > 253 ? "the name of the group is too long" : std::string();
}

}  // namespace

// --- One pod ---

QueuedPod SeePod(const std::shared_ptr<const model::Object>& object) {
  QueuedPod pod;
  pod.object = object;
  const Json &spec = SpecIn(*object), &status = StatusOf(*object), &conditions = Field(status, "conditions");
  pod.role = AnnotationOf(object->meta, kRoleHash);
  if (pod.role.empty()) pod.role = DigestOf(spec);
  pod.gated = HasGate(spec);
  const std::string set = LabelOf(object->meta, kPodSetLabel);
  pod.started = !pod.gated && !set.empty();
  if (pod.started && !GroupOf(object->meta).empty()) pod.role = set;
  pod.bound = !TextIn(spec, "nodeName").empty();
  const std::string phase = TextIn(status, "phase");
  pod.succeeded = phase == "Succeeded";
  pod.ended = pod.succeeded || phase == "Failed";
  pod.ready = IsTrue(conditions, "Ready");
  pod.leaves = IsTrue(conditions, kTerminationTarget);
  return pod;
}

PodOwner OwnerOf(const model::ObjectMeta& meta, bool bound) {
  if (LabelOf(meta, kQueueLabel).empty()) return PodOwner::kNone;
  const bool was_held = !LabelOf(meta, kManaged).empty() || !LabelOf(meta, kPodSetLabel).empty();
  if (bound && !was_held) return PodOwner::kNone;  // it ran before anything held it
  const model::OwnerReference* owner = meta.Controller();
  if (owner && MakesJobs(owner->kind)) return PodOwner::kNone;
  const std::string parent = AnnotationOf(meta, kParent);
  if (parent == "leaderworkerset" && !LeaderWorkerSetOf(meta).empty() && !ReplicaOf(meta).empty())
    return PodOwner::kLeaderWorkerSet;
  if (parent == "statefulset" && owner && owner->kind == "StatefulSet") return PodOwner::kStatefulSet;
  return GroupOf(meta).empty() ? PodOwner::kItself : PodOwner::kGroup;
}

std::string GroupOf(const model::ObjectMeta& meta) {
  const std::string label = LabelOf(meta, kGroupName);
  return label.empty() ? AnnotationOf(meta, kGroupName) : label;
}

std::string LeaderWorkerSetOf(const model::ObjectMeta& meta) { return LabelOf(meta, kSetName); }
std::string ReplicaOf(const model::ObjectMeta& meta) { return LabelOf(meta, kSetIndex); }

std::optional<JobEnd> EndOfPod(const QueuedPod& pod) {
  if (!pod.ended) return std::nullopt;
  return JobEnd{pod.succeeded, OneLine(TextIn(StatusOf(*pod.object), "message"))};
}

SetsOfPods SetsOfPod(const QueuedPod& pod) {
  SetsOfPods out;
  AddSet("main", 1, pod, &out);
  return out;
}

Json StartedPod(const PodSetGrant& grant, Json body) {
  const Json before = Field(body, "spec");
  GrantTo(grant, &body);
  Json& spec = body["spec"];
  for (const std::string_view gate : {kGate, kTopologyGate}) RemoveGate(gate, &spec);
  // Where no gate held it, its selector cannot be changed any more: the nodes that are held for it are of the flavor.
  if (!HasGate(before)) {
    spec.erase("nodeSelector");
    if (before.contains("nodeSelector")) spec["nodeSelector"] = before["nodeSelector"];
  }
  return body;
}

// --- Groups ---

GroupTerms TermsOfGroup(const std::string& group, const QueuedPods& pods, bool has_workload) {
  GroupTerms terms;
  const QueuedPod& first = OldestOf(pods);
  terms.fast = AnnotationOf(first.object->meta, kGroupFast) == "true";
  terms.serves = AnnotationOf(first.object->meta, kGroupServes) == "true";
  terms.unretriable = std::ranges::any_of(
      pods, [](const auto& item) { return AnnotationOf(item.second.object->meta, kRetriable) == "false"; });
  terms.problem = Disagreement(group, first, pods);
  if (!terms.problem.empty()) return terms;
  terms.total = *WholeNumber(AnnotationOf(first.object->meta, kGroupTotal));
  const int64_t there = std::ranges::count_if(pods, [](const auto& item) { return item.second.counts(); });
  if (!has_workload && there < (terms.fast ? 1 : terms.total))
    terms.problem = fmt::format("'{}' group has fewer runnable pods than expected", group);
  else if (!has_workload && SetsOfGroup(terms, pods).sets.size() > kMostRolesOfGroup)
    terms.problem = fmt::format("pod group can't include more than {} roles", kMostRolesOfGroup);
  return terms;
}

std::shared_ptr<const model::Object> GroupObject(const std::string& group, const QueuedPods& pods) {
  const model::Object& first = *OldestOf(pods).object;
  auto object = std::make_shared<model::Object>(first);
  object->resource = "podgroups";
  object->kind = "PodGroup";
  object->labelled = false;
  object->meta.name = group;
  object->meta.uid = fmt::format("pod-group/{}/{}", first.meta.ns, group);  // it outlives any of its pods
  object->meta.controller = model::OwnerReference();
  object->meta.deleted_ms = -1;
  return object;
}

SetsOfPods SetsOfGroup(const GroupTerms& terms, const QueuedPods& pods) {
  SetsOfPods out;
  std::map<std::string, std::pair<int64_t, const QueuedPod*>> roles;
  int64_t left = terms.total;  // the youngest beyond it are not of the group
  for (const QueuedPod* pod : ByAge(pods)) {
    if (!pod->counts() || left == 0) continue;
    if (terms.fast) {
      AddSet(pod->role, terms.total, *pod, &out);
      return out;
    }
    auto& [count, like] = roles[pod->role];
    if (count++ == 0) like = pod;
    --left;
  }
  for (const auto& [role, counted] : roles) AddSet(role, counted.first, *counted.second, &out);
  return out;
}

std::optional<JobEnd> EndOfGroup(const GroupTerms& terms, const QueuedPods& pods) {
  if (terms.serves || terms.total == 0) return std::nullopt;
  const int64_t succeeded = std::ranges::count_if(pods, [](const auto& item) { return item.second.succeeded; });
  const bool works = std::ranges::any_of(pods, [](const auto& item) { return !item.second.ended; });
  if (succeeded < terms.total && (works || !terms.unretriable)) return std::nullopt;
  return JobEnd{true, fmt::format("Pods succeeded: {}/{}.", succeeded, terms.total)};
}

std::vector<std::string> ExcessOf(const std::map<std::string, int64_t>& counts, const QueuedPods& pods) {
  std::map<std::string_view, int64_t> there;
  for (const auto& [name, pod] : pods) there[pod.role] += pod.counts() && !pod.deleting();
  if (std::ranges::none_of(counts, [&](const auto& item) { return there[item.first] > item.second; })) return {};
  std::map<std::string_view, std::vector<const QueuedPod*>> by_role;
  for (const QueuedPod* pod : ByAge(pods))
    if (pod->counts() && !pod->deleting()) by_role[pod->role].push_back(pod);
  std::vector<std::string> excess;
  for (auto& [role, members] : by_role) {
    const auto known = counts.find(std::string(role));
    const auto most = static_cast<size_t>(known == counts.end() ? 0 : known->second);
    if (known == counts.end() || members.size() <= most) continue;
    std::ranges::stable_partition(members, [](const QueuedPod* pod) { return !pod->held(); });
    for (size_t i = most; i < members.size(); ++i)
      if (members[i]->held()) excess.push_back(members[i]->object->meta.name);
  }
  return excess;
}

bool IsStranger(const QueuedPod& pod, const std::vector<PodSet>& sets) {
  return pod.held() && !pod.deleting() && std::ranges::find(sets, pod.role, &PodSet::name) == sets.end();
}

int64_t AbsentOf(const std::map<std::string, int64_t>& counts, const QueuedPods& pods) {
  std::map<std::string_view, int64_t> there;
  for (const auto& [name, pod] : pods) there[pod.role] += pod.counts();
  int64_t absent = 0;
  for (const auto& [role, count] : counts) absent += std::max<int64_t>(0, count - there[role]);
  return absent;
}

// --- What pods are made by ---

std::shared_ptr<const model::Object> ReplicaObject(const model::Object& set, const std::string& replica) {
  auto object = std::make_shared<model::Object>(set);
  object->meta.uid = fmt::format("{}/{}", set.meta.uid, replica);
  auto body = std::make_shared<Json>(*set.body);
  if ((*body)["spec"].is_object()) (*body)["spec"]["replicas"] = 1;
  object->body = std::move(body);
  return object;
}

std::shared_ptr<const model::Object> WholeObject(const std::shared_ptr<const model::Object>& replica) {
  const size_t slash = replica->meta.uid.find('/');
  if (slash == std::string::npos) return replica;
  auto whole = std::make_shared<model::Object>(*replica);
  whole->meta.uid.resize(slash);
  return whole;
}

Json MarkedTemplates(const model::Object& object) {
  const std::string queue = LabelOf(object.meta, kQueueLabel), priority = LabelOf(object.meta, kPriorityLabel);
  const std::string parent = base::LowerCase(object.kind);
  Json marked = *object.body;
  for (const char* path :
       {"/spec/template", "/spec/leaderWorkerTemplate/leaderTemplate", "/spec/leaderWorkerTemplate/workerTemplate"}) {
    const Json::json_pointer at(path);
    if (!marked.contains(at) || !marked[at].is_object()) continue;
    Json& meta = marked[at]["metadata"];
    if (!meta.is_object()) meta = Json::object();
    for (const char* part : {"labels", "annotations"})
      if (!meta[part].is_object()) meta[part] = Json::object();
    meta["labels"][std::string(kQueueLabel)] = queue;
    meta["labels"][std::string(kManaged)] = "true";
    if (!priority.empty()) meta["labels"][std::string(kPriorityLabel)] = priority;
    meta["annotations"][std::string(kParent)] = parent;
  }
  if (marked == *object.body) return nullptr;
  return marked;
}

bool HasNoReadyPods(const model::Object& object) {
  const Json& status = StatusOf(object);
  return CountIn(status, "readyReplicas") == 0 && CountIn(status, "availableReplicas") == 0;
}

}  // namespace tutti::dialects::kueue
