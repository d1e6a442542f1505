// SPDX-License-Identifier: Apache-2.0
#include "dialects/pod_groups.h"

#include <fmt/format.h>

#include "base/json_string.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

// No namespace has a slash in it, so two objects never share one.
std::string Place(std::string_view ns, std::string_view name) { return fmt::format("{}/{}", ns, name); }

}  // namespace

void WriteStatus(PodGroup* group, base::Json wanted, std::vector<cluster::CommandBody>* out) {
  group->written = base::PrintJson(wanted);
  for (const char* counter : {"running", "succeeded", "failed"})
    if (!wanted.contains(counter)) wanted[counter] = nullptr;  // taken out by a merge patch
  cluster::Patch patch;
  patch.object = cluster::RefOf(group->object);
  patch.status = true;
  patch.body = base::PrintJson({{"status", std::move(wanted)}});
  out->push_back(std::move(patch));
}

void PodGroupTable::Put(std::shared_ptr<const model::Object> object, model::GangSpec spec, base::Json observed,
                        Touched* touched) {
  PodGroup& group = groups_[Place(object->meta.ns, object->meta.name)];
  if (group.object && group.object->meta.uid != object->meta.uid) group = {};
  if (!group.object || group.spec != spec) {
    touched->gangs.insert(spec.key);
    group.spec = std::move(spec);
  } else if (group.observed != observed) {
    touched->statuses.insert(group.spec.key);
  }
  group.object = std::move(object);
  group.memory.Observed(observed);
  if (!group.memory.pending()) group.written.clear();
  group.observed = std::move(observed);
}

void PodGroupTable::Drop(std::string_view ns, std::string_view name, Touched* touched) {
  if (groups_.erase(Place(ns, name)) > 0) touched->gangs.insert({dialect_, std::string(ns), std::string(name)});
}

PodGroup* PodGroupTable::Find(const model::GangKey& key) {
  const auto at = groups_.find(Place(key.ns, key.name));
  return at == groups_.end() ? nullptr : &at->second;
}

model::GangSpec PodGroupTable::Describe(const model::GangKey& key) const {
  if (const PodGroup* group = Find(key)) return group->spec;
  model::GangSpec missing;
  missing.key = key;
  const std::string named = Named(kind_.kind, key.ns, key.name);
  if (served_) {
    missing.problem = fmt::format("{} does not exist in API group {}; create it, or take its name out of {}", named,
                                  kind_.group, link_);
  } else {
    missing.problem =
        fmt::format("{} cannot exist, for the API server does not serve {}; install its CustomResourceDefinition",
                    named, kind_.Name());
  }
  return missing;
}

std::optional<cluster::ObjectRef> PodGroupTable::EventTarget(const model::GangKey& key) const {
  const PodGroup* group = Find(key);
  if (!group) return std::nullopt;
  return cluster::RefOf(group->object);
}

}  // namespace tutti::dialects
