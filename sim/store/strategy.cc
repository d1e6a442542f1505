// SPDX-License-Identifier: Apache-2.0
#include "sim/store/strategy.h"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "sim/objects/quantity_text.h"
#include "sim/schema/builtin_schema.h"
#include "sim/schema/crd.h"
#include "sim/schema/event_conversion.h"
#include "sim/schema/schema.h"
#include "sim/store/admission_defaults.h"
#include "sim/store/hold.h"
#include "sim/store/validation.h"
#include "sim/store/workload_strategy.h"

namespace tutti::sim {
namespace {

void FirstPhase(Json& object, const char* phase) {
  if (DigString(object, "status", "phase").empty()) object["status"] = {{"phase", phase}};
}

void CanonicalizeNode(Json& node) {
  ObjectAt(node, "spec");
  Json& status = ObjectAt(node, "status");
  for (const char* list : {"capacity", "allocatable"}) {
    if (status.contains(list)) CanonicalizeResources(status[list]);
  }
  // As the API server does: allocatable is capacity unless said otherwise.
  if (Child(status, "allocatable").is_null() && status.contains("capacity"))
    SetDefault(status, "allocatable", status["capacity"]);
}

void PrepareNamespace(Json& object, bool restore) {
  if (!restore || Dig(object, "spec", "finalizers").is_null()) object["spec"] = {{"finalizers", {"kubernetes"}}};
  FirstPhase(object, "Active");
  const std::string name = NameOf(object);
  Json& labels = object["metadata"]["labels"];
  if (labels.is_null() || labels.is_object()) labels["kubernetes.io/metadata.name"] = name;
}

void PrepareClaim(const Store& store, Json& claim, bool creating) {
  Json& spec = ObjectAt(claim, "spec");
  SetDefault(spec, "volumeMode", "Filesystem");
  if (Dig(spec, "resources", "requests").is_object()) CanonicalizeResources(spec["resources"]["requests"]);
  // One of a dump that has its volume keeps what it was bound by.
  if (creating && DigString(spec, "volumeName").empty() && !NamesStorageClass(claim)) {
    if (const std::string by_default = DefaultStorageClass(store); !by_default.empty())
      spec["storageClassName"] = by_default;
  }
  FirstPhase(claim, "Pending");
}

enum class Occasion { kCreate, kRestore, kUpdate };
using Preparer = std::function<void(const Store&, Json&, Occasion)>;

const std::map<GroupResource, Preparer>& Preparers() {
  static const std::map<GroupResource, Preparer> preparers = {
      {kNodes, [](const Store&, Json& object, Occasion) { CanonicalizeNode(object); }},
      {kNamespaces,
       [](const Store&, Json& object, Occasion occasion) { PrepareNamespace(object, occasion == Occasion::kRestore); }},
      {kServices, [](const Store& store, Json& object, Occasion) { PrepareService(store, object); }},
      {{"", "secrets"}, [](const Store&, Json& object, Occasion) { PrepareSecret(object); }},
      {kClaims, [](const Store& store, Json& object,
                   Occasion occasion) { PrepareClaim(store, object, occasion != Occasion::kUpdate); }},
      {kLimitRanges, [](const Store&, Json& object, Occasion) { PrepareLimitRange(object); }},
      {kResourceQuotas, [](const Store&, Json& object, Occasion) { PrepareResourceQuota(object); }},
      {{"", "persistentvolumes"},
       [](const Store&, Json& object, Occasion) {
         SetDefault(ObjectAt(object, "spec"), "volumeMode", "Filesystem");
         SetDefault(ObjectAt(object, "spec"), "persistentVolumeReclaimPolicy", "Retain");
         FirstPhase(object, "Pending");
       }},
      {kStorageClasses,
       [](const Store&, Json& object, Occasion) {
         SetDefault(object, "reclaimPolicy", "Delete");
         SetDefault(object, "volumeBindingMode", "Immediate");
       }},
      {kPriorityClasses,
       [](const Store&, Json& object, Occasion) {
         SetDefault(object, "value", 0);
         SetDefault(object, "preemptionPolicy", "PreemptLowerPriority");
       }},
      {kCustomResourceDefinitions,
       [](const Store& store, Json& object, Occasion) {
         PrepareDefinition(object, store.now_ms());
         if (!IsTerminating(object) && !HasFinalizer(object, kDefinitionFinalizer)) {
           object["metadata"]["finalizers"].push_back(kDefinitionFinalizer);
         }
       }},
      {kJobs, [](const Store&, Json& object, Occasion occasion) { PrepareJob(object, occasion != Occasion::kUpdate); }},
      {kReplicaSets, [](const Store&, Json& object, Occasion) { PrepareReplicas(object); }},
      {{"", "replicationcontrollers"}, [](const Store&, Json& object, Occasion) { PrepareReplicas(object); }},
      {{"apps", "deployments"}, [](const Store&, Json& object, Occasion) { PrepareDeployment(object); }},
      {{"apps", "statefulsets"}, [](const Store&, Json& object, Occasion) { PrepareStatefulSet(object); }},
      {{"apps", "daemonsets"}, [](const Store&, Json& object, Occasion) { PrepareDaemonSet(object); }},
      {{"scheduling.k8s.io", "podgroups"},
       [](const Store&, Json& object, Occasion) {
         SetDefault(ObjectAt(object, "spec"), "disruptionMode", "Pod");
         SetDefault(object, "status", Json::object());
       }},
  };
  return preparers;
}

// Kinds whose creator may bring a status: its writer is no controller of the cluster.
bool TakesStatusOnCreate(const GroupResource& id) { return id == kNodes || id == kCustomResourceDefinitions; }

const ApiVersion& Stored(const ApiResource& resource) { return *resource.FindVersion(resource.storage_version); }

// What was stored since the definition last changed is as its schema wants it. Null: `current` was not.
const Json* KnownBySchema(const ApiResource& resource, const Json* current) {
  return current != nullptr && ResourceVersionOf(*current) > resource.defined_at ? current : nullptr;
}

// `current` is null on create.
void ApplySchema(const ApiResource& resource, const Json* current, Json& object) {
  const auto& schema = Stored(resource).schema;
  if (!schema) return;
  const Json* known = KnownBySchema(resource, current);
  schema->Prune(object, known);
  schema->FillIn(object, known);
}

// As the API server decodes into Go structs: unknown fields go, wrong types are refused.
ApiResult<void> Decode(const ApiResource& resource, Json& object) {
  const DecodeResult decoded = DecodeBuiltin(resource, object);
  if (!decoded.error.empty()) {
    return tl::make_unexpected(
        BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", resource.kind,
                               resource.storage_version, resource.kind, decoded.error)));
  }
  return {};
}

// The same of a pod, but for a spec that was decoded before.
ApiResult<void> DecodePod(PodTemplates& templates, const ApiResource& resource, Json& pod) {
  if (!templates.IsDecoded(Child(pod, "spec"))) return Decode(resource, pod);
  Json spec = std::move(pod["spec"]);
  pod.erase("spec");
  auto decoded = Decode(resource, pod);
  pod["spec"] = std::move(spec);
  return decoded;
}

// The same for `next`, but for those of its fields that are as in `current`: they have been decoded before. A write of
// the status leaves all but it and metadata as they are.
ApiResult<void> DecodeChanged(const ApiResource& resource, const Json& current, Json& next, Part part) {
  std::vector<std::pair<std::string, Json>> same;
  for (const auto& [field, value] : current.items()) {
    const auto at = value.is_structured() ? next.find(field) : next.end();
    if (at == next.end()) continue;
    const bool may_differ = part != Part::kStatus || field == "metadata" || field == "status";
    if (may_differ && *at != value) continue;
    same.emplace_back(field, value);  // one array for both
    next.erase(at);
  }
  auto decoded = Decode(resource, next);
  for (auto& [field, value] : same) next[field] = std::move(value);
  return decoded;
}

// The object has the very spec that the one before it has: it was defaulted and found right then.
bool SameSpec(const Json& current, const Json& next) {
  return base::IsShared(Child(current, "spec"), Child(next, "spec"));
}

ApiResult<void> CheckShape(const ApiResource& resource, const Json& object) {
  auto errors = ShapeErrors(object);
  if (errors.empty()) return {};
  return tl::make_unexpected(Invalid(resource.id.group, resource.kind, NameOf(object), errors));
}

}  // namespace

Json ToStored(const ApiResource& resource, Json object) {
  if (resource.id != resource.stored_as) return EventToCore(std::move(object));
  object["apiVersion"] = resource.StorageApiVersion();
  return object;
}

Json ToServed(const ApiResource& resource, std::string_view version, const Json& stored) {
  if (resource.id != resource.stored_as) return EventFromCore(stored);
  Json object = stored;
  object["apiVersion"] = JoinApiVersion(resource.id.group, version);
  return object;
}

ApiResult<void> PrepareForCreate(const Store& store, PodTemplates& templates, const ApiResource& resource, Json& object,
                                 bool keep_status) {
  // What a dump has with a status was admitted before.
  const bool is_new = !keep_status || Child(object, "status").empty();
  if (Stored(resource).has_status && !keep_status && !TakesStatusOnCreate(resource.id)) object.erase("status");
  if (resource.custom) {
    ApplySchema(resource, nullptr, object);
    if (is_new) HoldQueued(store, resource.id, object);
    return {};
  }
  const bool is_pod = resource.id == kPods;
  const bool of_template = is_pod && base::IsFrozen(Child(object, "spec"));
  const Json given = of_template ? Child(object, "spec") : Json();
  if (auto good = is_pod ? DecodePod(templates, resource, object) : Decode(resource, object); !good) return good;
  if (auto good = CheckShape(resource, object); !good) return good;
  if (is_new) HoldQueued(store, resource.id, object);
  if (is_pod) {
    if (of_template && Child(object, "spec") == given) object["spec"] = given;  // nothing was dropped: shared again
    return PreparePod(store, templates, object, keep_status);
  }
  const auto it = Preparers().find(resource.id);
  if (it != Preparers().end()) it->second(store, object, keep_status ? Occasion::kRestore : Occasion::kCreate);
  return {};
}

ApiResult<void> PrepareForUpdate(const Store& store, const ApiResource& resource, const Json& current, Json& next,
                                 Part part) {
  if (resource.custom) {
    ApplySchema(resource, &current, next);
    return {};
  }
  if (auto decoded = DecodeChanged(resource, current, next, part); !decoded) return decoded;
  if (auto good = CheckShape(resource, next); !good) return good;
  if (resource.id == kNodes) CanonicalizeNode(next);
  if (part == Part::kStatus) return {};
  if (resource.id == kPods) {
    if (SameSpec(current, next)) return {};
    DefaultPod(next);
    for (const char* field : {"priority", "preemptionPolicy"}) {
      const Json& had = Dig(current, "spec", field);
      if (!had.is_null()) SetDefault(next["spec"], field, had);
    }
    return {};
  }
  if (resource.id == kNamespaces) {
    if (!IsTerminating(current) && Dig(next, "spec", "finalizers").is_null()) next["spec"] = Child(current, "spec");
    return {};
  }
  const auto it = Preparers().find(resource.id);
  if (it != Preparers().end()) it->second(store, next, Occasion::kUpdate);
  return {};
}

std::vector<FieldError> ValidateObject(PodTemplates& templates, const ApiResource& resource, const Json& object,
                                       const Json* current, Part part) {
  std::vector<FieldError> errors = ShapeErrors(object);
  if (!errors.empty()) return errors;
  ValidateMetadata(resource, object, current, errors);
  if (resource.custom) {
    if (const auto& schema = Stored(resource).schema)
      schema->Validate(object, errors, KnownBySchema(resource, current));
    return errors;
  }
  if (part == Part::kStatus) return errors;
  if (resource.id == kPods && !(current ? SameSpec(*current, object) : templates.IsValid(Child(object, "spec")))) {
    const size_t before = errors.size();
    ValidatePod(object, current, part, errors);
    if (errors.size() == before) templates.NoteValid(Child(object, "spec"));
  }
  ValidateKind(resource, object, current, errors);
  return errors;
}

}  // namespace tutti::sim
