// SPDX-License-Identifier: Apache-2.0
#include "sim/controllers/replica_set_controller.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::sim {
namespace {

bool IsActive(const Json& pod) { return !IsFinishedPod(pod) && !IsTerminating(pod); }

}  // namespace

void ReplicaSetController::Observe(const WatchEvent& event) {
  if (event.resource == kReplicaSets) Enqueue(KeyFor(*event.object));
  FollowOwnedPod(event, "ReplicaSet", &pods_);
}

void ReplicaSetController::Reconcile(const ObjectKey& key) {
  const Object set = store_.Find(kReplicaSets, key.ns, key.name);
  if (!set || IsTerminating(*set)) return;
  std::vector<Object> active = pods_.Find(store_, UidOf(*set));
  std::erase_if(active, [](const Object& pod) { return !IsActive(*pod); });
  const int64_t surplus = int64_t(active.size()) - IntOf(Dig(*set, "spec", "replicas"), 1);
  if (surplus < 0) AddPods(*set, -surplus);
  if (surplus > 0) RemovePods(*set, std::move(active), surplus);
  WriteStatus(*set);
}

void ReplicaSetController::AddPods(const Json& set, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const auto created = store_.Create(PodFromTemplate(Dig(set, "spec", "template"), set, NameOf(set) + "-"));
    if (!created) {
      Warn(set, "FailedCreate", fmt::format("Error creating: {}", created.error().message));
      return RetryLater(KeyFor(set));
    }
    Note(set, "SuccessfulCreate", "Created pod: " + NameOf(**created));
  }
  Succeeded(KeyFor(set));
}

void ReplicaSetController::RemovePods(const Json& set, std::vector<Object> active, int64_t count) {
  SortForRemoval(&active);
  for (int64_t i = 0; i < count; ++i) {
    const Json& pod = *active[size_t(i)];
    store_.Delete(kPods, NamespaceOf(pod), NameOf(pod), {.uid = UidOf(pod)});
    Note(set, "SuccessfulDelete", "Deleted pod: " + NameOf(pod));
  }
}

void ReplicaSetController::WriteStatus(const Json& set) {
  int64_t replicas = 0, ready = 0;
  for (const Object& pod : pods_.Find(store_, UidOf(set))) {
    if (!IsActive(*pod)) continue;
    ++replicas;
    ready += IsReadyPod(*pod);
  }
  Json status = MapOf(Child(set, "status"));
  status["replicas"] = replicas;
  status["fullyLabeledReplicas"] = replicas;
  status["readyReplicas"] = ready;
  status["availableReplicas"] = ready;
  status["observedGeneration"] = IntOf(Dig(set, "metadata", "generation"), 1);
  if (status == Child(set, "status")) return;
  store_.Modify(
      kReplicaSets, NamespaceOf(set), NameOf(set), [&](Json& next) { next["status"] = std::move(status); },
      Part::kStatus);
}

}  // namespace tutti::sim
