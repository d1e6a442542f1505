// SPDX-License-Identifier: Apache-2.0
#include "sim/controllers/volume_controller.h"

#include <fmt/format.h>

#include "model/storage.h"
#include "sim/store/admission_defaults.h"

namespace tutti::sim {
namespace {

// The namespace of a class's key.
constexpr const char* kOfClass = "/";
constexpr const char* kProvisionedBy = "pv.kubernetes.io/provisioned-by";

bool IsFor(const Json& volume, const Json& claim) {
  const Json& ref = Dig(volume, "spec", "claimRef");
  const std::string& uid = DigString(ref, "uid");
  return DigString(ref, "name") == NameOf(claim) && DigString(ref, "namespace") == NamespaceOf(claim) &&
         (uid.empty() || uid == UidOf(claim));
}

Json ReferenceTo(const Json& claim) {
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolumeClaim"},
          {"namespace", NamespaceOf(claim)},
          {"name", NameOf(claim)},
          {"uid", UidOf(claim)}};
}

}  // namespace

void VolumeController::Observe(const WatchEvent& event) {
  const bool gone = event.type == EventType::kDeleted;
  if (event.resource == kVolumes) {
    ObserveVolume(*event.object, gone);
  } else if (event.resource == kClaims) {
    ObserveClaim(*event.object, gone);
  } else if (event.resource == kStorageClasses) {
    Enqueue({kOfClass, NameOf(*event.object)});
    Enqueue({kOfClass, ""});  // there may be another default class now
  }
}

void VolumeController::ObserveVolume(const Json& volume, bool gone) {
  const Json& ref = Dig(volume, "spec", "claimRef");
  const ObjectKey claim{DigString(ref, "namespace"), DigString(ref, "name")};
  const ObjectKey key = KeyFor(volume);
  Enqueue(key);
  reserved_.Put(key, gone || ref.is_null() ? "" : claim.ns + "/" + claim.name);
  if (!ref.is_null()) Enqueue(claim);
  for (const Object& each : naming_.Find(store_, key.name)) Enqueue(KeyFor(*each));
  if (gone)
    free_.Remove(key.name);
  else if (free_.Put(volume))
    Enqueue({kOfClass, DigString(volume, "spec", "storageClassName")});
}

void VolumeController::ObserveClaim(const Json& claim, bool gone) {
  const ObjectKey key = KeyFor(claim);
  const std::string& volume = DigString(claim, "spec", "volumeName");
  Enqueue(key);
  if (!volume.empty()) Enqueue({"", volume});
  naming_.Put(key, gone ? "" : volume);
  waiting_.Put(key, gone || !volume.empty() ? "" : kOfClass + DigString(claim, "spec", "storageClassName"));
}

void VolumeController::Reconcile(const ObjectKey& key) {
  if (key.ns == kOfClass) {
    for (const Object& claim : waiting_.Find(store_, kOfClass + key.name)) Enqueue(KeyFor(*claim));
  } else if (key.ns.empty()) {
    ReconcileVolume(key);
  } else {
    ReconcileClaim(key);
  }
}

void VolumeController::ReconcileVolume(const ObjectKey& key) {
  const Object volume = store_.Find(kVolumes, "", key.name);
  if (!volume || IsTerminating(*volume)) return;
  const Json& ref = Dig(*volume, "spec", "claimRef");
  const std::string& uid = DigString(ref, "uid");
  if (uid.empty()) return SetPhase(kVolumes, *volume, "Available");
  const Object claim = store_.Find(kClaims, DigString(ref, "namespace"), DigString(ref, "name"));
  if (claim && UidOf(*claim) == uid) return;
  if (DigString(*volume, "spec", "persistentVolumeReclaimPolicy") == "Delete")
    store_.Delete(kVolumes, "", key.name, {.uid = UidOf(*volume)});
  else
    SetPhase(kVolumes, *volume, "Released");
}

void VolumeController::ReconcileClaim(const ObjectKey& key) {
  const Object claim = store_.Find(kClaims, key.ns, key.name);
  if (!claim || IsTerminating(*claim)) return;
  const Object storage_class = store_.Find(kStorageClasses, "", DigString(*claim, "spec", "storageClassName"));
  const bool waits = storage_class && DigString(*storage_class, "volumeBindingMode") == "WaitForFirstConsumer";
  if (const Object volume = VolumeFor(*claim, waits)) return Bind(*claim, *volume);
  if (!DigString(*claim, "spec", "volumeName").empty())
    return SetPhase(kClaims, *claim, AnnotationOf(*claim, model::kBindCompleted).empty() ? "Pending" : "Lost");
  // A default class that came after the claim is its class from then on.
  if (const std::string by_default = DefaultStorageClass(store_); !NamesStorageClass(*claim) && !by_default.empty()) {
    store_.Modify(kClaims, key.ns, key.name, [&](Json& next) { next["spec"]["storageClassName"] = by_default; });
    return;
  }
  SetPhase(kClaims, *claim, "Pending");
  const bool due = !waits || !AnnotationOf(*claim, model::kSelectedNode).empty();
  if (storage_class && due) Provision(*claim, *storage_class);
}

Object VolumeController::VolumeFor(const Json& claim, bool waits) const {
  if (const std::string& name = DigString(claim, "spec", "volumeName"); !name.empty()) {
    const Object volume = store_.Find(kVolumes, "", name);
    return volume && (Dig(*volume, "spec", "claimRef").is_null() || IsFor(*volume, claim)) ? volume : nullptr;
  }
  for (const Object& volume : reserved_.Find(store_, KeyOf(claim))) {
    if (IsFor(*volume, claim)) return volume;
  }
  return waits ? nullptr : free_.SmallestFor(store_, claim);
}

void VolumeController::Provision(const Json& claim, const Json& storage_class) {
  const std::string& provisioner = DigString(storage_class, "provisioner");
  if (provisioner.empty() || provisioner == model::kNoProvisioner) return;
  const std::string volume_name = "pvc-" + UidOf(claim), &policy = DigString(storage_class, "reclaimPolicy");
  const auto created =
      store_.Create({{"apiVersion", "v1"},
                     {"kind", "PersistentVolume"},
                     {"metadata", {{"name", volume_name}, {"annotations", {{kProvisionedBy, provisioner}}}}},
                     {"spec",
                      {{"capacity", {{"storage", Dig(claim, "spec", "resources", "requests", "storage")}}},
                       {"accessModes", Dig(claim, "spec", "accessModes")},
                       {"storageClassName", NameOf(storage_class)},
                       {"persistentVolumeReclaimPolicy", policy.empty() ? "Delete" : policy},
                       {"claimRef", ReferenceTo(claim)},
                       {"csi", {{"driver", provisioner}, {"volumeHandle", volume_name}}}}}});
  if (!created) return Warn(claim, "ProvisioningFailed", created.error().message);
  Note(claim, "ProvisioningSucceeded", fmt::format("Successfully provisioned volume {}", volume_name));
}

void VolumeController::Bind(const Json& claim, const Json& volume) {
  if (!IsFor(volume, claim) || DigString(volume, "spec", "claimRef", "uid").empty()) {
    const bool found = Dig(volume, "spec", "claimRef").is_null();
    store_.Modify(kVolumes, "", NameOf(volume), [&](Json& next) {
      next["spec"]["claimRef"] = ReferenceTo(claim);
      if (found) next["metadata"]["annotations"][model::kBoundByController] = "yes";
    });
  }
  SetPhase(kVolumes, volume, "Bound");
  store_.Modify(kClaims, NamespaceOf(claim), NameOf(claim), [&](Json& next) {
    if (DigString(next, "spec", "volumeName").empty())
      next["metadata"]["annotations"][model::kBoundByController] = "yes";
    next["spec"]["volumeName"] = NameOf(volume);
    next["metadata"]["annotations"][model::kBindCompleted] = "yes";
  });
  store_.Modify(
      kClaims, NamespaceOf(claim), NameOf(claim),
      [&](Json& next) {
        next["status"] = {{"phase", "Bound"},
                          {"accessModes", Dig(volume, "spec", "accessModes")},
                          {"capacity", Dig(volume, "spec", "capacity")}};
      },
      Part::kStatus);
}

void VolumeController::SetPhase(const GroupResource& resource, const Json& object, const char* phase) {
  if (DigString(object, "status", "phase") == phase) return;
  store_.Modify(
      resource, NamespaceOf(object), NameOf(object), [&](Json& next) { next["status"]["phase"] = phase; },
      Part::kStatus);
}

}  // namespace tutti::sim
