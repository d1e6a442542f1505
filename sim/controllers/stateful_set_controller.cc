// SPDX-License-Identifier: Apache-2.0
#include "sim/controllers/stateful_set_controller.h"

#include <fmt/format.h>

#include <map>

#include "base/json_string.h"

namespace tutti::sim {
namespace {

const GroupResource kStatefulSets{"apps", "statefulsets"};
constexpr const char* kIndexLabel = "apps.kubernetes.io/pod-index";
constexpr const char* kRevisionLabel = "controller-revision-hash";

// It depends on the template alone.
std::string RevisionOf(const Json& set) {
  uint64_t hash = 14695981039346656037ull;
  for (const char c : base::PrintJson(Dig(set, "spec", "template")))
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return fmt::format("{}-{:08x}", NameOf(set), hash >> 32);
}

int64_t OrdinalOf(const Json& pod) {
  const std::string& index = DigString(pod, "metadata", "labels", kIndexLabel);
  return index.empty() ? -1 : std::stoll(index);
}

}  // namespace

void StatefulSetController::Observe(const WatchEvent& event) {
  if (event.resource == kStatefulSets) Enqueue(KeyFor(*event.object));
  FollowOwnedPod(event, "StatefulSet", &pods_);
}

void StatefulSetController::Reconcile(const ObjectKey& key) {
  const Object set = store_.Find(kStatefulSets, key.ns, key.name);
  if (!set || IsTerminating(*set)) return;
  const std::string revision = RevisionOf(*set);
  const int64_t replicas = IntOf(Dig(*set, "spec", "replicas"), 1);
  const bool parallel = DigString(*set, "spec", "podManagementPolicy") == "Parallel";
  std::map<int64_t, Object> pods;
  for (const Object& pod : pods_.Find(store_, UidOf(*set))) pods[OrdinalOf(*pod)] = pod;
  for (int64_t ordinal = 0; ordinal < replicas; ++ordinal) {
    const auto pod = pods.find(ordinal);
    if (pod == pods.end()) {
      if (!AddPod(*set, ordinal, revision)) return;
    } else if (IsFinishedPod(*pod->second) && !IsTerminating(*pod->second)) {
      RemovePod(*set, *pod->second);
    }
    if (!parallel && (pod == pods.end() || !IsReadyPod(*pod->second))) break;
  }
  for (auto pod = pods.rbegin(); pod != pods.rend(); ++pod) {
    if (IsTerminating(*pod->second)) break;
    const bool old = DigString(*pod->second, "metadata", "labels", kRevisionLabel) != revision;
    if (pod->first < replicas && !old) continue;
    RemovePod(*set, *pod->second);
    if (!parallel || old) break;
  }
  Succeeded(key);
  WriteStatus(*set, revision);
}

bool StatefulSetController::AddPod(const Json& set, int64_t ordinal, const std::string& revision) {
  const std::string name = fmt::format("{}-{}", NameOf(set), ordinal);
  Json pod = PodFromTemplate(Dig(set, "spec", "template"), set, "");
  Json& meta = pod["metadata"];
  meta.erase("generateName");
  meta["name"] = name;
  meta["labels"][kIndexLabel] = fmt::format("{}", ordinal);
  meta["labels"][kRevisionLabel] = revision;
  meta["labels"]["statefulset.kubernetes.io/pod-name"] = name;
  pod["spec"]["hostname"] = name;
  const auto created = store_.Create(std::move(pod));
  if (!created) {
    Warn(set, "FailedCreate",
         fmt::format("create Pod {} in StatefulSet {} failed error: {}", name, NameOf(set), created.error().message));
    RetryLater(KeyFor(set));
    return false;
  }
  Note(set, "SuccessfulCreate", fmt::format("create Pod {} in StatefulSet {} successful", name, NameOf(set)));
  return true;
}

void StatefulSetController::RemovePod(const Json& set, const Json& pod) {
  store_.Delete(kPods, NamespaceOf(pod), NameOf(pod), {.uid = UidOf(pod)});
  Note(set, "SuccessfulDelete", fmt::format("delete Pod {} in StatefulSet {} successful", NameOf(pod), NameOf(set)));
}

void StatefulSetController::WriteStatus(const Json& set, const std::string& revision) {
  int64_t replicas = 0, ready = 0, updated = 0;
  for (const Object& pod : pods_.Find(store_, UidOf(set))) {
    if (IsFinishedPod(*pod)) continue;
    ++replicas;
    ready += IsReadyPod(*pod) && !IsTerminating(*pod);
    updated += DigString(*pod, "metadata", "labels", kRevisionLabel) == revision;
  }
  Json status = MapOf(Child(set, "status"));
  status["replicas"] = replicas;
  status["readyReplicas"] = ready;
  status["availableReplicas"] = ready;
  status["currentReplicas"] = status["updatedReplicas"] = updated;
  status["currentRevision"] = status["updateRevision"] = revision;
  status["collisionCount"] = 0;
  status["observedGeneration"] = IntOf(Dig(set, "metadata", "generation"), 1);
  if (status == Child(set, "status")) return;
  store_.Modify(
      kStatefulSets, NamespaceOf(set), NameOf(set), [&](Json& next) { next["status"] = std::move(status); },
      Part::kStatus);
}

}  // namespace tutti::sim
