// SPDX-License-Identifier: Apache-2.0
#include "sim/store/admission_defaults.h"

#include "sim/objects/quantity_text.h"
#include "sim/store/strategy.h"

namespace tutti::sim {
namespace {

bool IsDefaultClass(const Json& storage_class) {
  return AnnotationOf(storage_class, "storageclass.kubernetes.io/is-default-class") == "true" ||
         AnnotationOf(storage_class, "storageclass.beta.kubernetes.io/is-default-class") == "true";
}

// As the API server orders several defaults: the youngest, and of two of one age the first by name.
bool Precedes(const Json& a, const Json& b) {
  const std::string &born_a = DigString(a, "metadata", "creationTimestamp"),
                    &born_b = DigString(b, "metadata", "creationTimestamp");
  return born_a != born_b ? born_a > born_b : NameOf(a) < NameOf(b);
}

// The amounts of one list of a limit that another list does not have.
void Inherit(Json& limit, const char* from, const char* to) {
  const Json amounts = MapOf(Child(limit, from));
  for (const auto& [name, amount] : amounts.items()) {
    if (Dig(limit, to, name).is_null()) ObjectAt(limit, to)[name] = amount;
  }
}

void AddMissing(const Json& amounts, const char* list, Json& container) {
  for (const auto& [name, amount] : MapOf(amounts).items()) {
    if (Dig(container, "resources", list, name).is_null()) {
      ObjectAt(ObjectAt(container, "resources"), list)[name] = amount;
    }
  }
}

}  // namespace

std::string DefaultStorageClass(const Store& store) {
  Object found;
  store.ForEach(kStorageClasses, [&](const auto&, const Object& one) {
    if (IsDefaultClass(*one) && (!found || Precedes(*one, *found))) found = one;
  });
  return found ? NameOf(*found) : "";
}

bool NamesStorageClass(const Json& claim) {
  return !Dig(claim, "spec", "storageClassName").is_null() ||
         !AnnotationOf(claim, "volume.beta.kubernetes.io/storage-class").empty();
}

void PrepareLimitRange(Json& range) {
  if (!Dig(range, "spec", "limits").is_array()) return;
  for (Json& limit : range["spec"]["limits"]) {
    for (const char* list : {"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"}) {
      if (Child(limit, list).is_object()) CanonicalizeResources(limit[list]);
    }
    if (DigString(limit, "type") != "Container") continue;
    Inherit(limit, "max", "default");
    Inherit(limit, "default", "defaultRequest");
    Inherit(limit, "min", "defaultRequest");
  }
}

void PrepareResourceQuota(Json& quota) {
  if (Dig(quota, "spec", "hard").is_object()) CanonicalizeResources(quota["spec"]["hard"]);
  if (!quota.contains("status")) quota["status"] = Json::object();
}

void AddDefaultLimits(const Store& store, Json& pod) {
  for (const Object& range : store.All(kLimitRanges, NamespaceOf(pod))) {
    for (const Json& limit : ArrayOf(Dig(*range, "spec", "limits"))) {
      if (DigString(limit, "type") != "Container") continue;
      for (const char* list : kContainerLists) {
        const auto containers = pod["spec"].find(list);
        if (containers == pod["spec"].end() || !containers->is_array()) continue;
        for (Json& container : *containers) {
          if (!container.is_object()) continue;
          AddMissing(Child(limit, "default"), "limits", container);
          AddMissing(Child(limit, "defaultRequest"), "requests", container);
        }
      }
    }
  }
}

}  // namespace tutti::sim
