// SPDX-License-Identifier: Apache-2.0
// Workloads, the part about elastic jobs, which may have several of them.
#include <string>
#include <utility>

#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/workloads.h"
#include "dialects/kueue/writes.h"

namespace tutti::dialects::kueue {

namespace {

constexpr size_t kMostSlices = 32;

const JobKind& RayJobKind() { return *FindJobKind("rayjobs.ray.io"); }

}  // namespace

bool Workloads::HasAllSlices(const Place& place, const std::string& name) const {
  const auto at = entries_.find(place);
  return at != entries_.end() && at->second.slices.size() >= kMostSlices && !at->second.slices.contains(name);
}

void Workloads::TakeSlices(Entry& entry) const {
  auto [current, next] = ChooseSlice(entry.slices);
  const Slice* const newest = current;
  if (newest) entry.newest = newest->object->meta.name;
  const auto first = entry.slices.find(entry.key.name);
  if (first != entry.slices.end() && first->second.read.replaced) entry.has_replaced_first = true;
  // The one that has replaced it is gone, and with it what the job had.
  if (entry.job && !entry.by_pods() && current && current->read.replaced && !next) current = nullptr;
  const auto take = [&](const Slice* slice, std::shared_ptr<const model::Object>* object, SetsRead* sets) {
    *object = slice ? slice->object : nullptr;
    if (!slice)
      *sets = {};
    else
      ReadSets(Field(Field(*slice->object->body, "spec"), "podSets"), entry.key.ns, settings_.scheduler_names, sets);
  };
  take(current, &entry.workload, &entry.of_workload);
  take(next, &entry.next, &entry.of_next);
  entry.read = current ? current->read : WorkloadRead();
  // A job may be enlarged any number of times.
  std::erase_if(entry.slices, [&](const auto& item) {
    const Slice& slice = item.second;
    return slice.read.replaced && &slice != newest && !HasFinalizer(*slice.object, kInUse);
  });
}

Workloads::Place Workloads::PlaceOfSlice(const Place& workload) const {
  const auto at = slices_.find(workload);
  return at == slices_.end() ? workload : at->second;
}

model::GangKey Workloads::GangOfWorkload(const std::string& ns, const std::string& name) const {
  const Place place = PlaceOfSlice({ns, name});
  return {std::string(kDialect), place.first, place.second};
}

std::optional<std::string> Workloads::NameOfReplaced(const Entry& entry) const {
  if (entry.job || !entry.workload || entry.ended() || !entry.read.active || entry.read.replaces.empty())
    return std::nullopt;
  const std::string& replaces = entry.read.replaces;
  const size_t slash = replaces.find('/');
  if (slash != std::string::npos && replaces.substr(0, slash) != entry.key.ns) return std::nullopt;
  std::string name = kueue::NameOfReplaced(entry.read);
  return name == entry.key.name ? std::nullopt : std::optional(std::move(name));
}

std::string Workloads::ReplacedBy(const Entry& entry) const {
  const std::optional<std::string> name = NameOfReplaced(entry);
  const auto at = name ? entries_.find({entry.key.ns, *name}) : entries_.end();
  if (at == entries_.end() || at->second.job || at->second.orphaned()) return {};
  return at->second.spec.uid;
}

const Entry* Workloads::ReplacementOf(const Entry& entry) const {
  if (entry.job || !entry.workload) return nullptr;
  const auto by = replacements_.find({entry.key.ns, entry.key.name});
  if (by == replacements_.end()) return nullptr;
  const Entry* first = nullptr;
  for (const std::string& name : by->second) {
    const Entry& one = entries_.at({entry.key.ns, name});
    if (one.terms.queue == entry.terms.queue && (!first || (one.read.has && !first->read.has))) first = &one;
  }
  return first;
}

void Workloads::TellReplaced(Entry& entry, std::optional<std::pair<std::string, bool>> now, Touched* touched) {
  const auto before = std::exchange(entry.replaces, std::move(now));
  if (before == entry.replaces) return;
  std::set<std::string> replaced;
  if (before) {
    std::set<std::string>& others = replacements_[{entry.key.ns, before->first}];
    others.erase(entry.key.name);
    if (others.empty()) replacements_.erase({entry.key.ns, before->first});
    replaced.insert(before->first);
  }
  if (entry.replaces) {
    std::set<std::string>& others = replacements_[{entry.key.ns, entry.replaces->first}];
    if (others.size() < kMostSlices) others.insert(entry.key.name);
    replaced.insert(entry.replaces->first);
  }
  for (const std::string& name : replaced)
    if (const auto at = entries_.find({entry.key.ns, name}); at != entries_.end()) Read(at->second, touched);
}

void Workloads::PutCluster(const model::Object& cluster, Touched* touched) {
  const model::OwnerReference* owner = cluster.meta.Controller();
  const model::ObjectKind& kind = RayJobKind().kind;
  if (!owner || owner->kind != kind.kind || !owner->api_version.starts_with(kind.group + "/"))
    return DropCluster(cluster.meta.ns, cluster.meta.name, touched);
  const auto sets = SetsOf(*cluster.body);
  if (!sets) return;
  ClusterSizes sizes{owner->name, owner->uid, {}};
  for (const PodSet& set : *sets) sizes.counts[set.name] = set.count;
  const ClusterSizes before = std::exchange(sizes_[{cluster.meta.ns, cluster.meta.name}], sizes);
  if (before == sizes) return;
  if (before.job != sizes.job) ReadJobOf(cluster.meta.ns, before, touched);
  ReadJobOf(cluster.meta.ns, sizes, touched);
}

void Workloads::DropCluster(std::string_view ns, std::string_view name, Touched* touched) {
  const auto known = sizes_.extract({std::string(ns), std::string(name)});
  if (known) ReadJobOf(std::string(ns), known.mapped(), touched);
}

void Workloads::ReadJobOf(const std::string& ns, const ClusterSizes& sizes, Touched* touched) {
  const auto at = jobs_.find({RayJobKind().kind.Name(), ns, sizes.job});
  if (at == jobs_.end()) return;
  Entry& entry = entries_.at(at->second);
  if (entry.IsElastic()) ReadDeclared(entry, touched);
}

// Of the cluster that the job itself names: anyone can name the job as the owner of another.
void Workloads::TakeSizes(Entry& entry) const {
  if (entry.kind != &RayJobKind() || entry.IsHeld()) return;
  const auto at = sizes_.find({entry.key.ns, TextIn(StatusOf(*entry.job), kRayClusterName)});
  if (at == sizes_.end() || at->second.job_uid != entry.job->meta.uid) return;
  for (PodSet& set : entry.sets)
    if (const auto count = at->second.counts.find(set.name); count != at->second.counts.end())
      set.count = count->second;
}

}  // namespace tutti::dialects::kueue
