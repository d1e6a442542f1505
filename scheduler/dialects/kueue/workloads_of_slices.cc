// SPDX-License-Identifier: Apache-2.0
// Workloads, the part about elastic jobs, which may have several of them.
#include <string>
#include <utility>

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
  const auto [current, next] = ChooseSlice(entry.slices);
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
    return slice.read.replaced && slice.object != entry.workload && slice.object != entry.next &&
           !HasFinalizer(*slice.object, kInUse);
  });
}

Workloads::Place Workloads::Whole(const Place& workload) const {
  const auto at = slices_.find(workload);
  return at == slices_.end() ? workload : at->second;
}

model::GangKey Workloads::GangOfWorkload(const std::string& ns, const std::string& name) const {
  const Place place = Whole({ns, name});
  return {std::string(kDialect), place.first, place.second};
}

void Workloads::PutCluster(const model::Object& cluster, Touched* touched) {
  const model::OwnerReference* owner = cluster.meta.Controller();
  const auto sets = SetsOf(*cluster.body);
  if (!owner || owner->kind != RayJobKind().kind.kind || !sets) return;
  ClusterSizes sizes{cluster.meta.name, {}};
  for (const PodSet& set : *sets) sizes.counts[set.name] = set.count;
  ClusterSizes& known = sizes_[{cluster.meta.ns, owner->name}];
  if (std::exchange(known, sizes) != sizes) ReadSizes(cluster.meta.ns, owner->name, touched);
  clusters_[{cluster.meta.ns, cluster.meta.name}] = owner->name;
}

void Workloads::DropCluster(std::string_view ns, std::string_view name, Touched* touched) {
  const auto owner = clusters_.find({std::string(ns), std::string(name)});
  if (owner == clusters_.end()) return;
  const std::string job = owner->second;
  clusters_.erase(owner);
  const auto sizes = sizes_.find({std::string(ns), job});
  if (sizes == sizes_.end() || sizes->second.cluster != name) return;
  sizes_.erase(sizes);
  ReadSizes(std::string(ns), job, touched);
}

void Workloads::ReadSizes(const std::string& ns, const std::string& job, Touched* touched) {
  const auto at = jobs_.find({RayJobKind().kind.Name(), ns, job});
  if (at == jobs_.end()) return;
  Entry& entry = entries_.at(at->second);
  if (entry.IsElastic()) ReadDeclared(entry, touched);
}

void Workloads::TakeSizes(Entry& entry) const {
  const auto at = sizes_.find({entry.key.ns, entry.job->meta.name});
  if (entry.kind != &RayJobKind() || at == sizes_.end() || entry.IsHeld()) return;
  for (PodSet& set : entry.sets)
    if (const auto count = at->second.counts.find(set.name); count != at->second.counts.end())
      set.count = count->second;
}

}  // namespace tutti::dialects::kueue
