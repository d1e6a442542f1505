// SPDX-License-Identifier: Apache-2.0
#include "sim/controllers/ephemeral_volume_controller.h"

#include <algorithm>

namespace tutti::sim {
namespace {

const Json& ClaimTemplate(const Json& volume) { return Dig(volume, "ephemeral", "volumeClaimTemplate"); }

Json ClaimFor(const Json& pod, const Json& volume) {
  Json meta = {{"name", NameOf(pod) + "-" + DigString(volume, "name")},
               {"namespace", NamespaceOf(pod)},
               {"ownerReferences", Json::array({ControllerReference(pod)})}};
  for (const char* field : {"labels", "annotations"}) {
    if (const Json& given = Dig(ClaimTemplate(volume), "metadata", field); !given.is_null()) meta[field] = given;
  }
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolumeClaim"},
          {"metadata", std::move(meta)},
          {"spec", Child(ClaimTemplate(volume), "spec")}};
}

}  // namespace

void EphemeralVolumeController::Observe(const WatchEvent& event) {
  const bool gone = event.type == EventType::kDeleted;
  if (event.resource == kClaims && gone) EnqueueOwner(*event.object, "Pod");
  if (event.resource != kPods || gone) return;
  const Json& volumes = ArrayOf(Dig(*event.object, "spec", "volumes"));
  const auto is_ephemeral = [](const Json& volume) { return ClaimTemplate(volume).is_object(); };
  if (std::ranges::any_of(volumes, is_ephemeral)) Enqueue(KeyFor(*event.object));
}

void EphemeralVolumeController::Reconcile(const ObjectKey& key) {
  const Object pod = store_.Find(kPods, key.ns, key.name);
  if (!pod || IsTerminating(*pod)) return;
  for (const Json& volume : ArrayOf(Dig(*pod, "spec", "volumes"))) {
    if (!ClaimTemplate(volume).is_object()) continue;
    Json claim = ClaimFor(*pod, volume);
    if (store_.Find(kClaims, key.ns, NameOf(claim))) continue;
    const auto created = store_.Create(std::move(claim));
    if (created) continue;
    Warn(*pod, "FailedBinding", "ephemeral volume " + DigString(volume, "name") + ": " + created.error().message);
    return RetryLater(key);
  }
  Succeeded(key);
}

}  // namespace tutti::sim
