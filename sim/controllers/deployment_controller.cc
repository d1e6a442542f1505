// SPDX-License-Identifier: Apache-2.0
#include "sim/controllers/deployment_controller.h"

#include <fmt/format.h>

namespace tutti::sim {
namespace {

const GroupResource kDeployments{"apps", "deployments"};
constexpr const char* kHashLabel = "pod-template-hash";

// Ten characters that depend on the template alone.
std::string TemplateHash(const Json& pod_template) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  uint64_t hash = 14695981039346656037ull;
  for (const char c : pod_template.dump()) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
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

}  // namespace

void DeploymentController::Observe(const WatchEvent& event) {
  if (event.resource == kDeployments) Enqueue(KeyFor(*event.object));
  if (event.resource == kReplicaSets) EnqueueOwner(*event.object, "Deployment");
}

void DeploymentController::Reconcile(const ObjectKey& key) {
  const Object deployment = store_.Find(kDeployments, key.ns, key.name);
  if (!deployment || IsTerminating(*deployment)) return;
  const std::string newest = NameOf(*deployment) + "-" + TemplateHash(Dig(*deployment, "spec", "template"));
  if (!store_.Find(kReplicaSets, key.ns, newest)) {
    const auto created = store_.Create(ReplicaSetFor(*deployment, newest.substr(NameOf(*deployment).size() + 1)));
    if (!created) {
      Warn(*deployment, "ReplicaSetCreateError", created.error().message);
      return RetryLater(key);
    }
    Note(*deployment, "ScalingReplicaSet",
         fmt::format("Scaled up replica set {} from 0 to {}", newest, IntOf(Dig(*deployment, "spec", "replicas"), 1)));
  }
  Succeeded(key);
  for (const Object& set : store_.All(kReplicaSets, key.ns)) {
    if (DigString(ControllerOf(*set), "uid") != UidOf(*deployment)) continue;
    const int64_t wanted = NameOf(*set) == newest ? IntOf(Dig(*deployment, "spec", "replicas"), 1) : 0;
    if (IntOf(Dig(*set, "spec", "replicas")) == wanted) continue;
    store_.Modify(kReplicaSets, key.ns, NameOf(*set), [&](Json& next) { next["spec"]["replicas"] = wanted; });
  }
  WriteStatus(*deployment, newest);
}

void DeploymentController::WriteStatus(const Json& deployment, const std::string& newest) {
  int64_t replicas = 0, ready = 0, updated = 0;
  for (const Object& set : store_.All(kReplicaSets, NamespaceOf(deployment))) {
    if (DigString(ControllerOf(*set), "uid") != UidOf(deployment)) continue;
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
