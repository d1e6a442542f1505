// SPDX-License-Identifier: Apache-2.0
#include "sim/store/gc.h"

#include <algorithm>

#include "sim/schema/crd.h"

namespace tutti::sim {
namespace {

constexpr size_t kRemembered = 10'000;
constexpr const char* kForegroundFinalizer = "foregroundDeletion";
constexpr const char* kOrphanFinalizer = "orphan";

const Json& Owners(const Json& object) { return ArrayOf(Dig(object, "metadata", "ownerReferences")); }

}  // namespace

void GarbageCollector::Observe(const WatchEvent& event) {
  const Json& object = *event.object;
  if (event.type == EventType::kModified && !IsTerminating(object) && Owners(*event.previous) == Owners(object)) return;
  const Ref ref{event.resource, NamespaceOf(object), NameOf(object)};
  const bool deleted = event.type == EventType::kDeleted;
  Index(ref, event.previous.get(), deleted ? nullptr : &object);
  if (event.type == EventType::kAdded) {
    live_[UidOf(object)] = ref;
    DeleteIfOrphaned(ref, object);
  }
  if (!deleted && IsTerminating(object)) OnOwnerTerminating(event);
  if (!deleted) return;
  live_.erase(UidOf(object));
  OnOwnerGone(UidOf(object));
  FinishForeground(object);
  if (!ref.ns.empty()) FinishNamespace(ref.ns);
  FinishDefinition(ref.resource);
}

void GarbageCollector::Index(const Ref& ref, const Json* before, const Json* after) {
  if (before && after && Owners(*before) == Owners(*after)) return;
  if (before) {
    for (const Json& owner : Owners(*before)) {
      const auto it = dependents_.find(DigString(owner, "uid"));
      if (it == dependents_.end()) continue;
      it->second.erase(ref);
      if (it->second.empty()) dependents_.erase(it);
    }
  }
  if (after) {
    for (const Json& owner : Owners(*after)) dependents_[DigString(owner, "uid")].insert(ref);
  }
}

void GarbageCollector::OnOwnerGone(const std::string& uid) {
  gone_.insert(uid);
  gone_order_.push_back(uid);
  if (gone_order_.size() > kRemembered) {
    gone_.erase(gone_order_.front());
    gone_order_.pop_front();
  }
  const auto it = dependents_.find(uid);
  if (it == dependents_.end()) return;
  const std::set<Ref> dependents = it->second;
  for (const Ref& ref : dependents) DeleteOrDetach(ref, uid);
}

// A dependent that still has a living owner only loses the reference.
void GarbageCollector::DeleteOrDetach(const Ref& ref, const std::string& gone_uid) {
  const Object object = store_.Find(ref.resource, ref.ns, ref.name);
  if (!object) return;
  const Json& owners = Owners(*object);
  const bool referenced =
      std::any_of(owners.begin(), owners.end(), [&](const Json& owner) { return DigString(owner, "uid") == gone_uid; });
  const bool has_living = std::any_of(owners.begin(), owners.end(),
                                      [&](const Json& owner) { return live_.contains(DigString(owner, "uid")); });
  if (!referenced) return;
  if (has_living) {
    Detach(ref, gone_uid);
  } else if (!IsTerminating(*object)) {
    store_.Delete(ref.resource, ref.ns, ref.name, {.uid = UidOf(*object)});
  }
}

void GarbageCollector::DeleteIfOrphaned(const Ref& ref, const Json& object) {
  const Json& owners = Owners(object);
  const auto is_gone = [&](const Json& owner) { return gone_.contains(DigString(owner, "uid")); };
  if (!owners.empty() && std::all_of(owners.begin(), owners.end(), is_gone)) {
    store_.Delete(ref.resource, ref.ns, ref.name, {.uid = UidOf(object)});
  }
}

void GarbageCollector::OnOwnerTerminating(const WatchEvent& event) {
  const Json& object = *event.object;
  const Ref ref{event.resource, NamespaceOf(object), NameOf(object)};
  if (ref.resource == kNamespaces) EmptyNamespace(ref.name);
  if (ref.resource == kCustomResourceDefinitions) EmptyDefinition(object);
  const std::string uid = UidOf(object);
  std::set<Ref> dependents;
  if (const auto it = dependents_.find(uid); it != dependents_.end()) dependents = it->second;
  if (HasFinalizer(object, kOrphanFinalizer)) {
    for (const Ref& dependent : dependents) Detach(dependent, uid);
    RemoveFinalizer(ref, kOrphanFinalizer);
  }
  if (!HasFinalizer(object, kForegroundFinalizer)) return;
  for (const Ref& dependent : dependents) {
    const Object each = store_.Find(dependent.resource, dependent.ns, dependent.name);
    if (!each || IsTerminating(*each)) continue;
    const bool owns = dependents_.contains(UidOf(*each));
    store_.Delete(dependent.resource, dependent.ns, dependent.name,
                  {.propagation = owns ? Propagation::kForeground : Propagation::kBackground, .uid = UidOf(*each)});
  }
  if (!HasBlockingDependents(uid)) RemoveFinalizer(ref, kForegroundFinalizer);
}

bool GarbageCollector::HasBlockingDependents(const std::string& uid) const {
  const auto it = dependents_.find(uid);
  if (it == dependents_.end()) return false;
  return std::any_of(it->second.begin(), it->second.end(), [&](const Ref& ref) {
    const Object object = store_.Find(ref.resource, ref.ns, ref.name);
    if (!object) return false;
    const Json& owners = Owners(*object);
    return std::any_of(owners.begin(), owners.end(), [&](const Json& owner) {
      return DigString(owner, "uid") == uid && BoolOf(Child(owner, "blockOwnerDeletion"));
    });
  });
}

// The last dependent of a foreground deletion lets its owner go.
void GarbageCollector::FinishForeground(const Json& dependent) {
  for (const Json& owner : Owners(dependent)) {
    const std::string& uid = DigString(owner, "uid");
    const auto it = live_.find(uid);
    if (it == live_.end() || HasBlockingDependents(uid)) continue;
    const Ref ref = it->second;
    const Object object = store_.Find(ref.resource, ref.ns, ref.name);
    if (object && IsTerminating(*object)) RemoveFinalizer(ref, kForegroundFinalizer);
  }
}

void GarbageCollector::EmptyNamespace(const std::string& ns) {
  std::vector<GroupResource> kinds;
  for (const auto& [id, resource] : store_.resources().All()) {
    if (resource.namespaced && id == resource.stored_as) kinds.push_back(id);
  }
  for (const GroupResource& kind : kinds) {
    for (const Object& object : store_.All(kind, ns)) {
      if (!IsTerminating(*object)) store_.Delete(kind, ns, NameOf(*object), {.uid = UidOf(*object)});
    }
  }
  FinishNamespace(ns);
}

void GarbageCollector::FinishNamespace(const std::string& ns) {
  const Object space = store_.Find(kNamespaces, "", ns);
  if (!space || !IsTerminating(*space)) return;
  for (const auto& [id, resource] : store_.resources().All()) {
    if (resource.namespaced && !store_.All(id, ns).empty()) return;
  }
  store_.Modify(kNamespaces, "", ns, [](Json& object) { object["spec"].erase("finalizers"); });
}

void GarbageCollector::EmptyDefinition(const Json& definition) {
  const GroupResource kind = ResourceOfDefinition(definition).id;
  for (const Object& object : store_.All(kind)) {
    if (!IsTerminating(*object)) {
      store_.Delete(kind, NamespaceOf(*object), NameOf(*object), {.uid = UidOf(*object)});
    }
  }
  FinishDefinition(kind);
}

void GarbageCollector::FinishDefinition(const GroupResource& resource) {
  const std::string name = resource.ToString();
  const Object definition = store_.Find(kCustomResourceDefinitions, "", name);
  if (!definition || !IsTerminating(*definition) || store_.Count(resource) > 0) return;
  RemoveFinalizer({kCustomResourceDefinitions, "", name}, kDefinitionFinalizer);
}

void GarbageCollector::Detach(const Ref& ref, const std::string& owner_uid) {
  store_.Modify(ref.resource, ref.ns, ref.name, [&](Json& object) {
    Json kept = Json::array();
    for (const Json& owner : Owners(object)) {
      if (DigString(owner, "uid") != owner_uid) kept.push_back(owner);
    }
    object["metadata"]["ownerReferences"] = std::move(kept);
  });
}

void GarbageCollector::RemoveFinalizer(const Ref& ref, const std::string& finalizer) {
  store_.Modify(ref.resource, ref.ns, ref.name, [&](Json& object) { DropFinalizer(object, finalizer); });
}

}  // namespace tutti::sim
