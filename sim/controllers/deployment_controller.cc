// SPDX-License-Identifier: Apache-2.0
#include "sim/controllers/deployment_controller.h"

#include <fmt/format.h>

#include <tuple>

#include "base/json_string.h"

namespace tutti::sim {
namespace {

const GroupResource kDeployments{"apps", "deployments"};
constexpr const char* kHashLabel = "pod-template-hash";

// Ten characters that depend on the template alone.
std::string TemplateHash(const Json& pod_template) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  uint64_t hash = 14695981039346656037ull;
  for (const char c : base::PrintJson(pod_template)) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  std::string text;
  for (int i = 0; i < 10; ++i, hash /= kAlphabet.size()) text += kAlphabet[hash % kAlphabet.size()];
  return text;
}

Json ReplicaSetFor(const Json& deployment, const std::string& hash) {
  Json spec = {{"replicas", Dig(deployment, "spec", "replicas")},
               {"selector", Dig(deployment, "spec", "selector")},
               {"template", Dig(deployment, "spec", "template")}};
  spec["selector"]["matchLabels"][kHashLabel] = hash;
  spec["template"]["metadata"]["labels"][kHashLabel] = hash;
  Json meta = {{"name", NameOf(deployment) + "-" + hash},
               {"namespace", NamespaceOf(deployment)},
               {"labels", spec["template"]["metadata"]["labels"]},
               {"ownerReferences", Json::array({ControllerReference(deployment)})}};
  return {{"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}, {"metadata", std::move(meta)}, {"spec", std::move(spec)}};
}

// A template's metadata without the label that its set adds.
Json OwnMetadata(const Json& workload) {
  Json meta = MapOf(Dig(workload, "spec", "template", "metadata"));
  const auto labels = meta.find("labels");
  if (labels == meta.end() || !labels->is_object()) return meta;
  labels->erase(kHashLabel);
  if (labels->empty()) meta.erase(labels);
  return meta;
}

bool HasTemplateOf(const Json& set, const Json& deployment) {
  return Dig(set, "spec", "template", "spec") == Dig(deployment, "spec", "template", "spec") &&
         OwnMetadata(set) == OwnMetadata(deployment);
}

// The set of the present template: the oldest, as the real controller takes it, whose name need not be by our hash.
std::string CurrentSet(const std::vector<Object>& sets, const Json& deployment) {
  const auto age = [](const Object& set) {
    return std::tuple(DigString(*set, "metadata", "creationTimestamp"), NameOf(*set));
  };
  Object found;
  for (const Object& set : sets) {
    if (!IsTerminating(*set) && HasTemplateOf(*set, deployment) && (!found || age(set) < age(found))) found = set;
  }
  return found ? NameOf(*found) : "";
}

}  // namespace

void DeploymentController::Observe(const WatchEvent& event) {
  if (event.resource == kDeployments) Enqueue(KeyFor(*event.object));
  if (event.resource != kReplicaSets) return;
  const Json& owner = ControllerOf(*event.object);
  const bool owned = event.type != EventType::kDeleted && DigString(owner, "kind") == "Deployment";
  sets_.Put(KeyFor(*event.object), owned ? DigString(owner, "uid") : "");
  EnqueueOwner(*event.object, "Deployment");
}

void DeploymentController::Reconcile(const ObjectKey& key) {
  const Object deployment = store_.Find(kDeployments, key.ns, key.name);
  if (!deployment || IsTerminating(*deployment)) return;
  std::string newest = CurrentSet(sets_.Find(store_, UidOf(*deployment)), *deployment);
  if (newest.empty()) {
    const std::string hash = TemplateHash(Dig(*deployment, "spec", "template"));
    newest = NameOf(*deployment) + "-" + hash;
    const auto created = store_.Create(ReplicaSetFor(*deployment, hash));
    if (!created) {
      Warn(*deployment, "ReplicaSetCreateError", created.error().message);
      return RetryLater(key);
    }
    Note(*deployment, "ScalingReplicaSet",
         fmt::format("Scaled up replica set {} from 0 to {}", newest, IntOf(Dig(*deployment, "spec", "replicas"), 1)));
  }
  Succeeded(key);
  for (const Object& set : sets_.Find(store_, UidOf(*deployment))) {
    const int64_t wanted = NameOf(*set) == newest ? IntOf(Dig(*deployment, "spec", "replicas"), 1) : 0;
    if (IntOf(Dig(*set, "spec", "replicas")) == wanted) continue;
    store_.Modify(kReplicaSets, key.ns, NameOf(*set), [&](Json& next) { next["spec"]["replicas"] = wanted; });
  }
  WriteStatus(*deployment, newest);
}

void DeploymentController::WriteStatus(const Json& deployment, const std::string& newest) {
  int64_t replicas = 0, ready = 0, updated = 0;
  for (const Object& set : sets_.Find(store_, UidOf(deployment))) {
    replicas += IntOf(Dig(*set, "status", "replicas"));
    ready += IntOf(Dig(*set, "status", "readyReplicas"));
    if (NameOf(*set) == newest) updated = IntOf(Dig(*set, "status", "replicas"));
  }
  const int64_t wanted = IntOf(Dig(deployment, "spec", "replicas"), 1);
  store_.Modify(
      kDeployments, NamespaceOf(deployment), NameOf(deployment),
      [&](Json& next) {
        Json& status = next["status"];
        status["replicas"] = replicas;
        status["updatedReplicas"] = updated;
        status["readyReplicas"] = ready;
        status["availableReplicas"] = ready;
        status["unavailableReplicas"] = wanted > ready ? wanted - ready : 0;
        status["observedGeneration"] = IntOf(Dig(deployment, "metadata", "generation"), 1);
        const bool available = ready >= wanted;
        SetCondition(
            next,
            {"Available", available ? "True" : "False",
             available ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
             available ? "Deployment has minimum availability." : "Deployment does not have minimum availability."},
            store_.now_ms());
      },
      Part::kStatus);
}

}  // namespace tutti::sim
