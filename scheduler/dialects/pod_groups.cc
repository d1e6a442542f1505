// SPDX-License-Identifier: Apache-2.0
#include "dialects/pod_groups.h"

#include <fmt/format.h>

#include "dialects/declaration.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

// No namespace has a slash in it, so two objects never share one.
std::string Place(std::string_view ns, std::string_view name) { return fmt::format("{}/{}", ns, name); }

}  // namespace

cluster::DesiredObject WithStatus(const std::shared_ptr<const model::Object>& object, base::Json status,
                                  cluster::DesiredObject::Agree agree, cluster::Patch::Type type) {
  return {.ref = cluster::RefOf(object),
          .status = true,
          .type = type,
          .fields = {{"status", std::move(status)}},
          .agree = agree,
          .seen = object};
}

const base::Json& LatestStatus(const std::shared_ptr<const model::Object>& object, const cluster::Unseen& unseen) {
  const base::Json* written = unseen.Written(cluster::RefOf(object));
  return written ? StatusIn(*written) : StatusOf(*object);
}

void TakeOutOtherCounters(base::Json* status) {
  for (const char* counter : {"running", "succeeded", "failed"})
    if (!status->contains(counter)) (*status)[counter] = nullptr;
}

void PodGroupTable::Put(std::shared_ptr<const model::Object> object, model::GangSpec spec, Touched* touched) {
  PodGroup& group = groups_[Place(object->meta.ns, object->meta.name)];
  if (!group.object || group.object->meta.uid != object->meta.uid || group.spec != spec) {
    touched->gangs.insert(spec.key);
    group.spec = std::move(spec);
  }
  group.object = std::move(object);
}

void PodGroupTable::Drop(std::string_view ns, std::string_view name, Touched* touched) {
  if (groups_.erase(Place(ns, name)) > 0) touched->gangs.insert({dialect_, std::string(ns), std::string(name)});
}

const PodGroup* PodGroupTable::Find(const model::GangKey& key) const {
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
