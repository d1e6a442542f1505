// SPDX-License-Identifier: Apache-2.0
// Workloads, the part about jobs whose pods are held one by one.
#include <fmt/format.h>

#include <algorithm>

#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/workloads.h"

namespace tutti::dialects::kueue {

using base::Json;

namespace {

constexpr int64_t kMostReplicas = 1'000;  // of a LeaderWorkerSet, those that may wait
constexpr const char* kMain = "main";

// The sets that the Workload has.
std::vector<PodSet> SetsOfWorkload(const Json& pod_sets) {
  std::vector<PodSet> sets;
  for (const Json& each : AsList(pod_sets)) {
    PodSet set;
    set.name = TextIn(each, "name");
    set.count = Field(each, "count").is_null() ? 1 : CountIn(each, "count");
    sets.push_back(std::move(set));
  }
  return sets;
}

// The name of its Workload.
std::string NameOfReplica(const std::string& set, const std::string& replica, const std::string& uid) {
  return WorkloadName("LeaderWorkerSet", "leaderworkerset.x-k8s.io", fmt::format("{}-{}", set, replica), uid);
}

}  // namespace

// Where a group waits whose name is another's Workload's. No Workload has a slash in its name.
Workloads::Place Workloads::PlaceWithoutName(const Place& place) {
  return {place.first, "pod-group/" + place.second};
}

void Entry::ForgetJob() {
  job = nullptr;
  sets.clear();
  of_job = late = {};
  group = {};
  job_problem.clear();
}

bool Entry::IsAnothers() const {
  if (job) return kind != &GroupKind();
  return workload && !model::Find(workload->meta.annotations, kIsOfGroup);
}

std::map<std::string, int64_t> Entry::Counts() const {
  std::map<std::string, int64_t> counts;
  for (const PodSet& set : sets) counts[set.name] = set.count;
  return counts;
}

std::optional<int64_t> Entry::AbsentPods() const {
  if (!is_group() || !workload || pods.empty()) return std::nullopt;
  std::map<std::string, int64_t> counts = Counts();
  if (group.fast)
    for (auto& [name, count] : counts) count = std::min<int64_t>(count, 1);
  return AbsentOf(counts, pods);
}

std::optional<Workloads::Place> Workloads::PlaceOf(const model::ObjectMeta& meta, bool bound) const {
  switch (OwnerOf(meta, bound)) {
    case PodOwner::kNone:
    case PodOwner::kDeployment: return std::nullopt;
    case PodOwner::kItself: return Place{meta.ns, WorkloadName("Pod", "", meta.name, meta.uid)};
    case PodOwner::kGroup: {
      const Place named{meta.ns, GroupOf(meta)};
      const auto known = entries_.find(named);
      return known != entries_.end() && known->second.IsAnothers() ? PlaceWithoutName(named) : named;
    }
    case PodOwner::kStatefulSet:
      return Place{meta.ns, WorkloadName("StatefulSet", "apps", meta.Controller()->name, meta.Controller()->uid)};
    case PodOwner::kLeaderWorkerSet: break;
  }
  const auto set = replicas_.find({meta.ns, LeaderWorkerSetOf(meta)});
  if (set == replicas_.end()) return Place{meta.ns, ""};
  return Place{meta.ns, NameOfReplica(LeaderWorkerSetOf(meta), ReplicaOf(meta), set->second.uid)};
}

std::optional<model::GangKey> Workloads::GangOf(const model::Pod& pod) const {
  const std::optional<Place> place = PlaceOf(pod.meta, pod.bound());
  if (!place) return std::nullopt;
  if (place->second.empty())
    return model::GangKey{std::string(kDialect), place->first, "leaderworkerset/" + LeaderWorkerSetOf(pod.meta)};
  return model::GangKey{std::string(kDialect), place->first, place->second};
}

void Workloads::PutReplicas(const JobKind& kind, const model::Object& set, bool waits, Touched* touched) {
  const std::pair place{set.meta.ns, set.meta.name};
  const auto known = replicas_.find(place);
  if (known != replicas_.end() && known->second.uid != set.meta.uid) DropJob(kind, set.meta.ns, set.meta.name, touched);
  if (!waits) return DropJob(kind, set.meta.ns, set.meta.name, touched);
  Replicas& replicas = replicas_[place];
  replicas.uid = set.meta.uid;
  const Json& declared = Field(Field(*set.body, "spec"), "replicas");
  const int64_t count =
      std::min(kMostReplicas, declared.is_number_integer() ? CountIn(Field(*set.body, "spec"), "replicas") : 1);
  for (int64_t i = count; i < replicas.count; ++i)
    DropOne({kind.kind.Name(), place.first, fmt::format("{}/{}", place.second, i)}, touched);
  replicas.count = count;
  for (int64_t i = 0; i < count; ++i) {
    const std::string index = fmt::format("{}", i);
    PutOne(kind, ReplicaObject(set, index), {kind.kind.Name(), place.first, fmt::format("{}/{}", place.second, i)},
           [&] { return NameOfReplica(place.second, index, set.meta.uid); }, touched);
  }
  const auto early = early_.find(place);
  if (early == early_.end()) return;
  const auto pods = std::move(early->second);
  early_.erase(early);
  touched->members.insert({std::string(kDialect), place.first, "leaderworkerset/" + place.second});
  for (const auto& [name, pod] : pods) PutPod(pod, touched);
}

// Pods of a group are told apart by what they are scheduled by; of others it is known.
std::string Workloads::RoleOf(const Entry& entry, const QueuedPod& pod) const {
  switch (OwnerOf(pod.object->meta, pod.bound)) {
    case PodOwner::kGroup: return pod.role;
    case PodOwner::kLeaderWorkerSet: {
      if (std::ranges::none_of(entry.sets, [](const PodSet& set) { return set.name == "leader"; })) return kMain;
      const std::string* index = model::Find(pod.object->meta.labels, "leaderworkerset.sigs.k8s.io/worker-index");
      return !index || *index == "0" ? "leader" : "worker";
    }
    default: return kMain;
  }
}

void Workloads::PutPod(const std::shared_ptr<const model::Object>& object, Touched* touched) {
  QueuedPod pod = SeePod(object);
  const std::pair name{object->meta.ns, object->meta.name};
  const std::optional<Place> place = PlaceOf(object->meta, pod.bound);
  if (const auto known = pods_.find(name); known != pods_.end() && (!place || known->second != *place))
    DropPod(name.first, name.second, touched);
  if (!place) return;
  if (place->second.empty()) {
    early_[{name.first, LeaderWorkerSetOf(object->meta)}][name.second] = object;
    pods_[name] = *place;
    return;
  }
  Entry& entry = Open(*place);
  pods_[name] = *place;
  const PodOwner owner = OwnerOf(object->meta, pod.bound);
  if (!entry.job && owner == PodOwner::kItself) entry.kind = FindJobKind("labelled-pods");
  if (!entry.job && owner == PodOwner::kGroup) entry.kind = &GroupKind();
  pod.role = RoleOf(entry, pod);
  entry.pods.insert_or_assign(name.second, std::move(pod));
  ReadPods(entry, touched);
}

void Workloads::DropPod(std::string_view ns, std::string_view name, Touched* touched) {
  const std::pair key{std::string(ns), std::string(name)};
  const auto at = pods_.find(key);
  if (at == pods_.end()) return;
  const Place place = at->second;
  pods_.erase(at);
  if (place.second.empty()) {
    // Which set it named is not kept; few wait so in a namespace.
    for (auto set = early_.lower_bound({key.first, ""}); set != early_.end() && set->first.first == key.first;)
      set = set->second.erase(key.second) > 0 && set->second.empty() ? early_.erase(set) : std::next(set);
    return;
  }
  Entry& entry = entries_.at(place);
  entry.pods.erase(key.second);
  const bool made_of_them = entry.by_pods() && (entry.kind->pods == PodOwner::kItself || entry.kind == &GroupKind());
  if (entry.pods.empty() && made_of_them) entry.ForgetJob();
  CloseIfEmpty(place, touched);
}

void Workloads::MoveGroupAway(const Place& place, Touched* touched) {
  Entry& entry = entries_.at(place);
  if (entry.kind == &GroupKind()) MovePods(entry, touched);
}

void Workloads::MoveGroupBack(const Place& place, Touched* touched) {
  const Place from = PlaceWithoutName(place);
  const auto waits = entries_.find(from);
  if (waits == entries_.end()) return;
  MovePods(waits->second, touched);
  CloseIfEmpty(from, touched);
}

void Workloads::MovePods(Entry& entry, Touched* touched) {
  std::vector<std::shared_ptr<const model::Object>> pods;
  for (const auto& [name, pod] : entry.pods) {
    pods.push_back(pod.object);
    pods_.erase({entry.key.ns, name});
  }
  entry.pods.clear();
  entry.ForgetJob();
  entry.kind = nullptr;
  touched->members.insert(entry.key);
  for (const auto& pod : pods) PutPod(pod, touched);
}

void Workloads::ReadPods(Entry& entry, Touched* touched) {
  if (!entry.by_pods() || entry.pods.empty()) return Read(entry, touched);
  if (entry.kind->pods != PodOwner::kItself && entry.kind->pods != PodOwner::kGroup) return Read(entry, touched);
  SetsOfPods read;
  if (entry.kind->pods == PodOwner::kItself) {
    entry.job = entry.pods.begin()->second.object;
    read = SetsOfPod(entry.pods.begin()->second);
  } else {
    const std::string group = GroupOf(entry.pods.begin()->second.object->meta);
    entry.group = TermsOfGroup(group, entry.pods, entry.workload != nullptr);
    entry.job = GroupObject(group, entry.pods);
    entry.lacks_name = group != entry.key.name;
    if (entry.lacks_name)
      entry.group.problem = fmt::format(
          "A Workload named \"{}\" already exists but is not a pod group workload; this pod group cannot be admitted",
          group);
    const int64_t there = std::ranges::count_if(entry.pods, [](const auto& item) { return item.second.counts(); });
    // With quota, and while pods are missing, what its Workload says counts.
    if (entry.workload && (entry.read.has || there < entry.group.total))
      read = {SetsOfWorkload(entry.of_workload.json), entry.of_workload.json};
    else if (entry.group.problem.empty())
      read = SetsOfGroup(entry.group, entry.pods);
  }
  entry.job_problem = entry.group.problem;
  entry.sets = std::move(read.sets);
  ReadSets(std::move(read.json), entry.key.ns, settings_.scheduler_names, &entry.of_job);
  if (entry.job_problem.empty()) entry.job_problem = entry.of_job.problem;
  Read(entry, touched);
}

}  // namespace tutti::dialects::kueue
