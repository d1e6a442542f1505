// SPDX-License-Identifier: Apache-2.0
// The store's writing verbs.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "sim/store/patch.h"
#include "sim/store/store.h"
#include "sim/store/strategy.h"

namespace tutti::sim {
namespace {

constexpr int64_t kDefaultGraceSeconds = 30;
constexpr size_t kMaxGeneratedBase = 58;  // 63 less the suffix

std::string UidMismatch(const std::string& asked, const std::string& actual) {
  return fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", asked, actual);
}

// What the API server alone may write in metadata.
void CarrySystemMetadata(const Json& current, Json& next) {
  Json& meta = next["metadata"];
  const Json& have = Child(current, "metadata");
  for (const char* field : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds", "generation", "generateName", "resourceVersion"}) {
    const Json& value = Child(have, field);
    if (value.is_string() && Child(meta, field) == value) continue;
    if (value.is_null()) {
      meta.erase(field);
    } else {
      meta[field] = value;
    }
  }
  meta.erase("managedFields");
  meta.erase("selfLink");
}

// Empty maps and lists in metadata read the same as absent ones, and are stored as absent.
void DropEmptyMetadata(Json& object) {
  Json& meta = object["metadata"];
  for (const char* field : {"labels", "annotations", "finalizers", "ownerReferences"}) {
    const auto it = meta.find(field);
    if (it != meta.end() && it->empty()) meta.erase(it);
  }
}

// Whether the two differ in metadata at most, and in status if that is written apart.
bool SameSpec(const Json& a, const Json& b, bool has_status) {
  const auto counts = [&](const std::string& key) { return key != "metadata" && !(has_status && key == "status"); };
  for (const auto& [key, value] : a.items()) {
    if (counts(key) && Child(b, key) != value) return false;
  }
  for (const auto& [key, value] : b.items()) {
    if (counts(key) && !a.contains(key)) return false;
  }
  return true;
}

// Whether a write of the status that makes one of them into the other changes nothing.
bool SameStatusPart(const Json& a, const Json& b) {
  return Child(a, "status") == Child(b, "status") && a.contains("status") == b.contains("status") &&
         Child(a, "metadata") == Child(b, "metadata");
}

// True while something still has to happen before a terminating object may go.
bool IsHeld(const ApiResource& resource, const Json& object) {
  if (!Dig(object, "metadata", "finalizers").empty()) return true;
  if (IntOf(Dig(object, "metadata", "deletionGracePeriodSeconds")) > 0) return true;
  return resource.id == kNamespaces && !Dig(object, "spec", "finalizers").empty();
}

int64_t GraceSeconds(const ApiResource& resource, const Json& object, const DeleteOptions& options) {
  if (resource.id != kPods) return 0;
  if (DigString(object, "spec", "nodeName").empty() || IsFinishedPod(object)) return 0;
  const int64_t seconds =
      options.grace_seconds.value_or(IntOf(Dig(object, "spec", "terminationGracePeriodSeconds"), kDefaultGraceSeconds));
  return seconds < 0 ? 1 : seconds;
}

void AddFinalizer(Json& object, const char* finalizer) {
  if (HasFinalizer(object, finalizer)) return;
  Json& finalizers = object["metadata"]["finalizers"];
  if (!finalizers.is_array()) finalizers = Json::array();
  finalizers.push_back(finalizer);
}

}  // namespace

// --- Create ---

ApiResult<void> Store::CheckNamespaceOpen(const ApiResource& resource, const std::string& ns,
                                          const std::string& name) const {
  const Object space = Find(kNamespaces, "", ns);
  if (!space) return Refuse(NotFound(kNamespaces, ns));
  if (!IsTerminating(*space)) return {};
  ApiError error =
      Forbidden(resource.id, name,
                fmt::format("unable to create new content in namespace {} because it is being terminated", ns));
  error.details["causes"] = {{{"reason", "NamespaceTerminating"},
                              {"message", fmt::format("namespace {} is being terminated", ns)},
                              {"field", "metadata.namespace"}}};
  return Refuse(std::move(error));
}

ApiResult<void> Store::AssignName(const ApiResource& resource, Json& object) {
  if (!NameOf(object).empty()) return {};
  const std::string base(base::Cut(DigString(object, "metadata", "generateName"), kMaxGeneratedBase));
  if (base.empty()) {
    return Refuse(Invalid(resource.id.group, resource.kind, "",
                          {RequiredField("metadata.name", "name or generateName is required")}));
  }
  do object["metadata"]["name"] = base + RandomSuffix();
  while (Find(resource.id, NamespaceOf(object), NameOf(object)));
  return {};
}

void Store::AssignIdentity(const ApiResource& resource, Json& object, bool restore) {
  Json& meta = object["metadata"];
  for (const char* field : {"resourceVersion", "managedFields", "selfLink"}) meta.erase(field);
  if (!restore) {
    for (const char* field :
         {"uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
      meta.erase(field);
    }
  }
  if (UidOf(object).empty()) meta["uid"] = RandomUid();
  if (DigString(object, "metadata", "creationTimestamp").empty()) {
    meta["creationTimestamp"] = base::FormatTime(now_ms());
  }
  if (resource.tracks_generation && !Child(meta, "generation").is_number()) meta["generation"] = 1;
}

ApiResult<Object> Store::Create(Json object, const CreateOptions& options) {
  const auto found = ResourceFor(object);
  if (!found) return Refuse(found.error());
  object = ToStored(**found, std::move(object));
  const ApiResource& resource = *resources_.Find((*found)->stored_as);
  if (!Child(object, "metadata").is_object()) object["metadata"] = Json::object();
  Json& meta = object["metadata"];
  if (!resource.namespaced) {
    meta.erase("namespace");
  } else if (NamespaceOf(object).empty()) {
    meta["namespace"] = "default";
  }
  if (!options.restore && !DigString(meta, "resourceVersion").empty()) {
    return Refuse(BadRequest("resourceVersion should not be set on objects to be created"));
  }
  if (resource.namespaced) {
    if (auto open = CheckNamespaceOpen(resource, NamespaceOf(object), NameOf(object)); !open)
      return Refuse(open.error());
  }
  if (auto named = AssignName(resource, object); !named) return Refuse(named.error());
  AssignIdentity(resource, object, options.restore);
  if (auto ready = PrepareForCreate(*this, templates_, resource, object, options.restore); !ready)
    return Refuse(ready.error());
  DropEmptyMetadata(object);
  if (const auto errors = ValidateObject(templates_, resource, object, nullptr, Part::kMain); !errors.empty()) {
    return Refuse(Invalid(resource.id.group, resource.kind, NameOf(object), errors));
  }
  if (Find(resource.id, NamespaceOf(object), NameOf(object))) {
    return Refuse(AlreadyExists(resource.id, NameOf(object)));
  }
  if (!options.restore) {
    if (auto admitted = quotas_.Admit(resource, object); !admitted) return Refuse(admitted.error());
  }
  if (options.dry_run) return std::make_shared<const Json>(std::move(object));
  return Commit(resource, EventType::kAdded, std::move(object), nullptr);
}

// --- Update, patch ---

ApiResult<Object> Store::Update(Json object, Part part, const WriteOptions& options) {
  const auto found = ResourceFor(object);
  if (!found) return Refuse(found.error());
  object = ToStored(**found, std::move(object));
  const ApiResource& resource = *resources_.Find((*found)->stored_as);
  const std::string ns = !resource.namespaced ? "" : NamespaceOf(object).empty() ? "default" : NamespaceOf(object);
  const Object current = Find(resource.id, ns, NameOf(object));
  if (!current) return Refuse(NotFound(resource.id, NameOf(object)));
  if (resource.custom && ResourceVersionOf(object) == 0) {
    return Refuse(Invalid(resource.id.group, resource.id.resource, NameOf(object),
                          {InvalidField("metadata.resourceVersion", 0, "must be specified for an update")}));
  }
  return Replace(resource, current, std::move(object), part, options.dry_run);
}

ApiResult<Object> Store::Replace(const ApiResource& resource, const Object& current, Json next, Part part,
                                 bool dry_run) {
  const std::string name = NameOf(*current);
  if (!Child(next, "metadata").is_object()) next["metadata"] = Json::object();
  const std::string& version = DigString(next, "metadata", "resourceVersion");
  if (!version.empty() && version != "0" && version != DigString(*current, "metadata", "resourceVersion")) {
    return Refuse(Modified(resource.id, name));
  }
  const std::string& uid = UidOf(next);
  if (!uid.empty() && uid != UidOf(*current)) {
    return Refuse(Conflict(resource.id, name, UidMismatch(uid, UidOf(*current))));
  }
  const bool has_status = resource.FindVersion(resource.storage_version)->has_status;
  const bool of_status =
      part == Part::kStatus && !resource.custom;  // a definition may have changed, and the spec with it
  if (part == Part::kStatus) {
    Json changed = Json::object();
    for (const auto& [field, value] : current->items()) {
      if (field == "status" || (field == "metadata" && !resource.custom)) continue;
      if (const auto same = next.find(field); same != next.end() && *same == value)
        changed[field] = std::move(*same);  // to compare is cheaper than to copy
      else
        changed[field] = value;
    }
    if (next.contains("status")) changed["status"] = std::move(next["status"]);
    if (!resource.custom) {
      Json& meta = changed["metadata"] = std::move(next["metadata"]);
      const Json& owners = Dig(*current, "metadata", "ownerReferences");
      if (owners.is_null())
        meta.erase("ownerReferences");
      else
        meta["ownerReferences"] = owners;
    }
    next = std::move(changed);
  } else if (has_status) {
    next.erase("status");
    if (current->contains("status")) next["status"] = Child(*current, "status");
  }
  if (part == Part::kResize) next["metadata"] = Child(*current, "metadata");
  next["apiVersion"] = Child(*current, "apiVersion");
  next["kind"] = Child(*current, "kind");
  CarrySystemMetadata(*current, next);
  if (auto ready = PrepareForUpdate(*this, resource, *current, next, part); !ready) return Refuse(ready.error());
  DropEmptyMetadata(next);
  if (of_status ? SameStatusPart(next, *current) : next == *current) return current;
  if (const auto errors = ValidateObject(templates_, resource, next, current.get(), part); !errors.empty()) {
    return Refuse(Invalid(resource.id.group, resource.kind, name, errors));
  }
  if (resource.tracks_generation && !of_status && !SameSpec(next, *current, has_status)) {
    next["metadata"]["generation"] = IntOf(Dig(*current, "metadata", "generation"), 1) + 1;
  }
  if (dry_run) return std::make_shared<const Json>(std::move(next));
  return CommitChange(resource, current, std::move(next));
}

// A change may be the last thing that a terminating object waited for.
Object Store::CommitChange(const ApiResource& resource, const Object& current, Json next) {
  const bool goes = IsTerminating(next) && !IsHeld(resource, next);
  return Commit(resource, goes ? EventType::kDeleted : EventType::kModified, std::move(next), current);
}

ApiResult<Object> Store::Patch(const GroupResource& id, std::string_view ns, std::string_view name, PatchType type,
                               const Json& patch, Part part, const WriteOptions& options) {
  const auto found = ResourceFor(id);
  if (!found) return Refuse(found.error());
  const ApiResource& resource = **found;
  if (type == PatchType::kStrategic && resource.custom) {
    return Refuse(UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"));
  }
  const Object current = Find(id, ns, name);
  if (!current) {
    if (type == PatchType::kApply && part == Part::kMain) return CreateByApply(resource, ns, name, patch, options);
    return Refuse(NotFound(id, name));
  }
  // A patch speaks of the version it was sent to; custom resources read the same in all of
  // theirs, and Events are patched in their core form but for events.k8s.io.
  const std::string version = resource.id == resource.stored_as ? resource.storage_version : resource.versions[0].name;
  Json next = ToServed(resource, version, *current);
  if (auto patched = ApplyPatch(resource, type, patch, next); !patched) return Refuse(patched.error());
  return Replace(*resources_.Find(resource.stored_as), current, ToStored(resource, std::move(next)), part,
                 options.dry_run);
}

ApiResult<Object> Store::CreateByApply(const ApiResource& resource, std::string_view ns, std::string_view name,
                                       Json object, const WriteOptions& options) {
  if (!object.is_object()) return Refuse(BadRequest("the apply patch is not an object"));
  object["metadata"]["name"] = name;
  if (resource.namespaced) object["metadata"]["namespace"] = ns;
  return Create(std::move(object), {.restore = false, .dry_run = options.dry_run});
}

ApiResult<Object> Store::Modify(const GroupResource& id, std::string_view ns, std::string_view name,
                                const std::function<void(Json&)>& change, Part part) {
  const auto found = ResourceFor(id);
  if (!found) return Refuse(found.error());
  const Object current = Find(id, ns, name);
  if (!current) return Refuse(NotFound(id, name));
  Json next = *current;
  change(next);
  const ApiResource& resource = *resources_.Find((*found)->stored_as);
  if (part != Part::kStatus || resource.custom) return Replace(resource, current, std::move(next), part, false);
  if (SameStatusPart(next, *current)) return current;
  return CommitChange(resource, current, std::move(next));
}

// --- Delete ---

ApiResult<DeleteResult> Store::Delete(const GroupResource& id, std::string_view ns, std::string_view name,
                                      const DeleteOptions& options) {
  const auto found = ResourceFor(id);
  if (!found) return Refuse(found.error());
  const Object current = Find(id, ns, name);
  if (!current) return Refuse(NotFound(id, name));
  return DeleteObject(**found, current, options);
}

ApiResult<DeleteResult> Store::DeleteObject(const ApiResource& resource, const Object& current,
                                            const DeleteOptions& options) {
  const std::string& name = NameOf(*current);
  const GroupResource kind_id{resource.id.group, resource.kind};
  const auto refuse_stale = [&](const char* what, const std::string& asked, const std::string& actual) {
    return Refuse(
        Conflict(kind_id, name,
                 fmt::format("the {} in the precondition ({}) does not match the {} in record ({}). The "
                             "object might have been {}",
                             what, asked, what, actual, *what == 'U' ? "deleted and then recreated" : "modified")));
  };
  if (!options.uid.empty() && options.uid != UidOf(*current)) return refuse_stale("UID", options.uid, UidOf(*current));
  const std::string& version = DigString(*current, "metadata", "resourceVersion");
  if (!options.resource_version.empty() && options.resource_version != version) {
    return refuse_stale("ResourceVersion", options.resource_version, version);
  }

  Json next = *current;
  Json& meta = next["metadata"];
  const int64_t grace = GraceSeconds(resource, *current, options);
  if (!IsTerminating(*current)) {
    meta["deletionTimestamp"] = base::FormatTime(now_ms() + grace * 1000);
    // Namespaces and definitions are ended by controllers of their own, which count nothing.
    const bool of_its_own = resource.id == kNamespaces || resource.id == kCustomResourceDefinitions;
    if (!of_its_own) meta["deletionGracePeriodSeconds"] = grace;
    if (resource.tracks_generation && !of_its_own) meta["generation"] = IntOf(Child(meta, "generation"), 1) + 1;
    if (resource.id == kNamespaces) next["status"]["phase"] = "Terminating";
  } else if (const int64_t had = IntOf(Child(meta, "deletionGracePeriodSeconds")); grace < had) {
    // A shorter grace counts from when the first one began.
    const int64_t due = base::ParseTime(DigString(meta, "deletionTimestamp")).value_or(now_ms());
    meta["deletionTimestamp"] = base::FormatTime(due - (had - grace) * 1000);
    meta["deletionGracePeriodSeconds"] = grace;
  }
  if (options.propagation == Propagation::kForeground) AddFinalizer(next, "foregroundDeletion");
  if (options.propagation == Propagation::kOrphan) AddFinalizer(next, "orphan");

  const bool removed = !IsHeld(resource, next);
  if (options.dry_run) return DeleteResult{std::make_shared<const Json>(std::move(next)), removed};
  if (!removed && next == *current) return DeleteResult{current, false};
  // The caller may hold the only other reference to `resource`'s definition: Commit copies what it needs.
  const EventType type = removed ? EventType::kDeleted : EventType::kModified;
  return DeleteResult{Commit(resource, type, std::move(next), current), removed};
}

ApiResult<std::vector<Object>> Store::DeleteCollection(const GroupResource& id, std::string_view ns,
                                                       const Selectors& selectors, const DeleteOptions& options) {
  if (const auto found = ResourceFor(id); !found) return Refuse(found.error());
  std::vector<Object> touched;
  for (const Object& object : Selected(id, ns, selectors)) {
    // One may go together with another (its owner): no longer there is no failure.
    auto result = Delete(id, NamespaceOf(*object), NameOf(*object), options);
    if (result) {
      touched.push_back(result->object);
    } else if (result.error().code != 404) {
      return Refuse(result.error());
    }
  }
  return touched;
}

// --- Bind ---

ApiResult<Object> Store::Bind(const Json& binding, const WriteOptions& options) {
  const std::string& name = NameOf(binding);
  const std::string ns = NamespaceOf(binding).empty() ? "default" : NamespaceOf(binding);
  const std::string& node = DigString(binding, "target", "name");
  const std::string& kind = DigString(binding, "target", "kind");
  std::vector<FieldError> errors;
  if (!kind.empty() && kind != "Node") errors.push_back(UnsupportedField("target.kind", kind, {"Node", "<empty>"}));
  if (node.empty()) errors.push_back(RequiredField("target.name"));
  if (!errors.empty()) return Refuse(Invalid("", "Binding", name, errors));

  const Object current = Find(kPods, ns, name);
  if (!current) return Refuse(NotFound(kPods, name));
  const auto precondition = [&](const char* what, const std::string& asked, const std::string& actual) {
    return Refuse(Conflict(kPods, name,
                           fmt::format("StorageError: invalid object, Code: 4, Key: /registry/pods/{}/{}, "
                                       "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {} in "
                                       "precondition: {}, {} in object meta: {}",
                                       ns, name, what, asked, what, actual)));
  };
  const std::string& uid = UidOf(binding);
  if (!uid.empty() && uid != UidOf(*current)) return precondition("UID", uid, UidOf(*current));
  const std::string& version = DigString(binding, "metadata", "resourceVersion");
  const std::string& current_version = DigString(*current, "metadata", "resourceVersion");
  if (!version.empty() && version != current_version) return precondition("ResourceVersion", version, current_version);

  const auto refuse = [&](const std::string& why) { return Refuse(Conflict({"", "pods/binding"}, name, why)); };
  if (IsTerminating(*current))
    return refuse(fmt::format("pod {} is being deleted, cannot be assigned to a host", name));
  if (const std::string& bound = DigString(*current, "spec", "nodeName"); !bound.empty()) {
    return refuse(fmt::format("pod {} is already assigned to node \"{}\"", name, bound));
  }
  if (!Dig(*current, "spec", "schedulingGates").empty()) {
    return refuse(fmt::format("pod {} has non-empty .spec.schedulingGates", name));
  }

  Json pod = *current;
  pod["spec"]["nodeName"] = node;
  for (const char* field : {"annotations", "labels"}) {
    const Json& merged = MapOf(Dig(binding, "metadata", field));
    for (const auto& [key, value] : merged.items()) pod["metadata"][field][key] = value;
  }
  SetCondition(pod, {"PodScheduled", "True", "", ""}, now_ms());
  pod["status"].erase("nominatedNodeName");
  if (options.dry_run) return std::make_shared<const Json>(std::move(pod));
  return Commit(*resources_.Find(kPods), EventType::kModified, std::move(pod), current);
}

}  // namespace tutti::sim
