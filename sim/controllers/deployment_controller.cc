// SPDX-License-Identifier: Apache-2.0
#include "sim/controllers/deployment_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
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
  Json spec = {{"replicas", 0},
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
Object CurrentSet(const std::vector<Object>& sets, const Json& deployment) {
  for (const Object& set : sets)
    if (HasTemplateOf(*set, deployment)) return set;
  return nullptr;
}

int64_t Replicas(const Json& workload) { return IntOf(Dig(workload, "spec", "replicas"), 1); }
int64_t Available(const Json& set) { return IntOf(Dig(set, "status", "availableReplicas")); }

int64_t SumOf(const std::vector<Object>& sets, int64_t (*count)(const Json&)) {
  int64_t sum = 0;
  for (const Object& set : sets) sum += count(*set);
  return sum;
}

// A number of pods, or "25%" of `replicas`.
int64_t PodsOf(const Json& amount, int64_t replicas, bool rounds_up) {
  const std::string& text = StringOf(amount);
  if (!text.ends_with('%')) return std::max<int64_t>(0, IntOf(amount));
  const int64_t hundredths = std::max<int64_t>(0, std::atoll(text.c_str())) * replicas;
  return (hundredths + (rounds_up ? 99 : 0)) / 100;
}

struct Bounds {
  int64_t most;   // pods of all sets
  int64_t least;  // pods that are available
};

Bounds BoundsOf(const Json& deployment) {
  const int64_t replicas = Replicas(deployment);
  const Json& rolling = Dig(deployment, "spec", "strategy", "rollingUpdate");
  const int64_t surge = PodsOf(Child(rolling, "maxSurge"), replicas, true);
  int64_t unavailable = std::min(replicas, PodsOf(Child(rolling, "maxUnavailable"), replicas, false));
  if (surge == 0 && unavailable == 0) unavailable = 1;
  return {replicas + surge, replicas - unavailable};
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
  std::vector<Object> old = SetsOf(*deployment);
  Object current = CurrentSet(old, *deployment);
  std::erase(old, current);
  const bool recreates = DigString(*deployment, "spec", "strategy", "type") == "Recreate";
  if (recreates && TakeAway(*deployment, old)) return WriteStatus(*deployment, current);
  if (!current) {
    const auto created = store_.Create(ReplicaSetFor(*deployment, TemplateHash(Dig(*deployment, "spec", "template"))));
    if (!created) {
      Warn(*deployment, "ReplicaSetCreateError", created.error().message);
      return RetryLater(key);
    }
    current = *created;
  }
  Succeeded(key);
  if (!GrowCurrent(*deployment, *current, old)) ShrinkOld(*deployment, *current, old);
  WriteStatus(*deployment, current);
}

std::vector<Object> DeploymentController::SetsOf(const Json& deployment) const {
  std::vector<Object> sets = sets_.Find(store_, UidOf(deployment));
  std::erase_if(sets, [](const Object& set) { return IsTerminating(*set); });
  std::ranges::sort(sets, {}, [](const Object& set) {
    return std::tuple(DigString(*set, "metadata", "creationTimestamp"), NameOf(*set));
  });
  return sets;
}

bool DeploymentController::TakeAway(const Json& deployment, const std::vector<Object>& old) {
  for (const Object& set : old) Scale(deployment, *set, 0);
  return std::ranges::any_of(old, [](const Object& set) { return IntOf(Dig(*set, "status", "replicas")) > 0; });
}

bool DeploymentController::GrowCurrent(const Json& deployment, const Json& current, const std::vector<Object>& old) {
  const int64_t has = Replicas(current), wanted = Replicas(deployment);
  const int64_t room = BoundsOf(deployment).most - has - SumOf(old, Replicas);
  const int64_t next = has >= wanted ? wanted : has + std::clamp<int64_t>(room, 0, wanted - has);
  return Scale(deployment, current, next);
}

void DeploymentController::ShrinkOld(const Json& deployment, const Json& current, const std::vector<Object>& old) {
  const int64_t least = BoundsOf(deployment).least;
  int64_t spare = Replicas(current) + SumOf(old, Replicas) - least - (Replicas(current) - Available(current));
  int64_t available = Available(current) + SumOf(old, Available) - least;
  for (const Object& set : old) {
    const int64_t has = Replicas(*set), idle = std::clamp<int64_t>(spare, 0, has - std::min(has, Available(*set)));
    const int64_t working = std::clamp<int64_t>(std::min(spare - idle, available), 0, has - idle);
    spare -= idle + working;
    available -= working;
    Scale(deployment, *set, has - idle - working);
  }
}

bool DeploymentController::Scale(const Json& deployment, const Json& set, int64_t replicas) {
  const int64_t had = Replicas(set);
  if (had == replicas) return false;
  store_.Modify(kReplicaSets, NamespaceOf(set), NameOf(set), [&](Json& next) { next["spec"]["replicas"] = replicas; });
  Note(deployment, "ScalingReplicaSet",
       fmt::format("Scaled {} replica set {} from {} to {}", had < replicas ? "up" : "down", NameOf(set), had,
                   replicas));
  return true;
}

void DeploymentController::WriteStatus(const Json& deployment, const Object& current) {
  int64_t replicas = 0, ready = 0, updated = 0;
  for (const Object& set : sets_.Find(store_, UidOf(deployment))) {
    replicas += IntOf(Dig(*set, "status", "replicas"));
    ready += IntOf(Dig(*set, "status", "readyReplicas"));
    if (current && NameOf(*set) == NameOf(*current)) updated = IntOf(Dig(*set, "status", "replicas"));
  }
  const int64_t wanted = Replicas(deployment), least = BoundsOf(deployment).least;
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
        const bool available = ready >= least;
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
