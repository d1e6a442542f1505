// SPDX-License-Identifier: Apache-2.0
#include "sim/nodes/autoscaler.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_string.h"
#include "base/log.h"
#include "cluster/json_decode.h"
#include "sim/store/controller.h"

namespace tutti::sim {
namespace {

constexpr base::Millis kRetryMs = 1'000;
constexpr base::Millis kWriteMs = 10'000;
// After so long a write that nothing was seen of is decided again.
constexpr base::Millis kEchoMs = 5'000;
constexpr const char* kRequests = "provisioningrequests.autoscaling.x-k8s.io";
constexpr const char* kTemplates = "podtemplates";
constexpr size_t kUidInName = 8;

bool IsReady(const model::Node& node) {
  return node.ready && std::ranges::none_of(node.taints, [](const model::Taint& taint) {
           return taint.key == "node.kubernetes.io/not-ready";
         });
}

Condition With(Condition condition, std::string message) {
  condition.message = std::move(message);
  return condition;
}

}  // namespace

Autoscaler::Autoscaler(Options options, cluster::ClusterWriter& writer, const base::Clock& clock)
    : options_(std::move(options)), writer_(writer), clock_(clock), unsynced_({"nodes", kRequests, kTemplates}) {}

std::vector<model::ObjectKind> Autoscaler::Kinds() {
  return {{"autoscaling.x-k8s.io", "provisioningrequests", "ProvisioningRequest", {"v1", "v1beta1"}},
          {"", "podtemplates", "PodTemplate", {"v1"}}};
}

void Autoscaler::RunOnce(const std::vector<cluster::FeedEvent>& events) {
  for (const cluster::FeedEvent& event : events) Apply(event);
  if (!unsynced_.empty()) return;
  while (const auto key = queue_.Take(clock_.MonotonicMs())) Reconcile(*key);
}

// --- What happened ---

void Autoscaler::Apply(const cluster::FeedEvent& event) {
  if (const auto* changed = std::get_if<cluster::ObjectChanged>(&event)) OnObject(changed->object);
  if (const auto* gone = std::get_if<cluster::ObjectGone>(&event)) OnGone(*gone);
  if (const auto* changed = std::get_if<cluster::NodeChanged>(&event)) OnNode(*changed->node);
  if (const auto* gone = std::get_if<cluster::NodeGone>(&event)) OnNodeGone(gone->name);
  if (const auto* answer = std::get_if<cluster::CommandReply>(&event)) OnAnswer(*answer);
  if (const auto* synced = std::get_if<cluster::KindSynced>(&event)) unsynced_.erase(synced->kind_name);
}

void Autoscaler::OnObject(const Shared& object) {
  const ObjectKey key = KeyFor(*object->body);
  if (object->resource == "podtemplates") {
    templates_[key] = object;
    return;
  }
  if (object->resource != "provisioningrequests") return;
  Request& request = requests_[key];
  if (request.object && request.object->meta.uid != object->meta.uid) by_uid_.erase(request.object->meta.uid);
  request.object = object;
  by_uid_[object->meta.uid] = key;
  queue_.Add(key);
}

void Autoscaler::OnGone(const cluster::ObjectGone& gone) {
  const ObjectKey key{gone.ns, gone.name};
  if (gone.kind_name == kTemplates) templates_.erase(key);
  if (gone.kind_name != kRequests) return;
  requests_.erase(key);
  by_uid_.erase(gone.uid);
}

void Autoscaler::OnNode(const model::Node& node) {
  const std::string* const request = model::Find(*node.meta.labels, kRequestLabel);
  if (request == nullptr) return;
  if (!nodes_.contains(node.meta.name)) asked_ms_.erase(node.meta.name);
  OwnNode& own = nodes_[node.meta.name];
  own.uid = node.meta.uid;
  own.request = *request;
  own.ready = IsReady(node);
  nodes_of_[*request].insert(node.meta.name);
  if (const auto of = by_uid_.find(*request); of != by_uid_.end()) queue_.Add(of->second);
}

void Autoscaler::OnNodeGone(const std::string& name) {
  const auto node = nodes_.find(name);
  if (node == nodes_.end()) return;
  const auto of = nodes_of_.find(node->second.request);
  of->second.erase(name);
  if (const auto request = by_uid_.find(of->first); request != by_uid_.end()) queue_.Add(request->second);
  if (of->second.empty()) nodes_of_.erase(of);
  nodes_.erase(node);
  asked_ms_.erase(name);
}

void Autoscaler::OnAnswer(const cluster::CommandReply& answer) {
  const auto sent = in_flight_.find(answer.id);
  if (sent == in_flight_.end()) return;
  const auto [key, node] = std::move(sent->second);
  in_flight_.erase(sent);
  const auto request = requests_.find(key);
  if (request == requests_.end()) {
    asked_ms_.erase(node);
    return;
  }
  if (request->second.in_flight > 0) --request->second.in_flight;
  constexpr int kExists = 409;
  if (answer.outcome != cluster::Outcome::kDone && answer.http_status != kExists) {
    base::LogWarn("a write failed", {{"request", key.ns + "/" + key.name}, {"message", answer.message}});
    request->second.decided_on.clear();
    asked_ms_.erase(node);
    queue_.AddAt(key, clock_.MonotonicMs() + kRetryMs);
    return;
  }
  queue_.Add(key);
}

// --- What is to be done ---

void Autoscaler::Reconcile(const ObjectKey& key) {
  const auto found = requests_.find(key);
  if (found == requests_.end()) return;
  Request& request = found->second;
  if (request.object->meta.deleting() || request.in_flight > 0) return;
  const Json& body = *request.object->body;
  const std::string& version = DigString(body, "metadata", "resourceVersion");
  if (request.decided_on == version && clock_.MonotonicMs() < request.decided_ms + kEchoMs)
    return queue_.AddAt(key, request.decided_ms + kEchoMs);
  const RequestWords* const words = WordsOf(DigString(body, "spec", "provisioningClassName"));
  if (words == nullptr || IsTrue(body, kFailed) || IsTrue(body, kCapacityRevoked)) return;
  Json next = body;
  Advance(key, *words, next);
  const Json& conditions = Dig(next, "status", "conditions");
  if (conditions == Dig(body, "status", "conditions")) return;
  request.decided_on = version;
  request.decided_ms = clock_.MonotonicMs();
  cluster::Patch patch;
  patch.object = cluster::RefOf(request.object);
  patch.status = true;
  patch.body = base::PrintJson({{"status", {{"conditions", conditions}}}});
  Submit(key, std::move(patch));
}

void Autoscaler::Advance(const ObjectKey& key, const RequestWords& words, Json& next) {
  const base::Millis now = clock_.WallMs();
  if (ConditionOf(next, kAccepted).is_null() && !words.first.empty()) {
    for (const Condition& condition : words.first) SetCondition(next, condition, now);
    return;
  }
  if (!IsTrue(next, kAccepted)) {
    if (IsDue(key, DigString(next, "metadata", "creationTimestamp"), options_.accept_ms))
      SetCondition(next, words.accepted, now);
    return;
  }
  if (!IsTrue(next, kProvisioned)) return Provide(key, words, next);
  const Outcome outcome = OutcomeOf(next);
  if (outcome == Outcome::kRevoke) return Revoke(key, words, next);
  if (IsTrue(next, kBookingExpired)) return;
  const std::string since = DigString(ConditionOf(next, kProvisioned), "lastTransitionTime");
  if (outcome == Outcome::kExpire || IsDue(key, since, options_.booking_ms)) SetCondition(next, words.expired, now);
}

void Autoscaler::Provide(const ObjectKey& key, const RequestWords& words, Json& next) {
  const base::Millis now = clock_.WallMs();
  const Outcome outcome = OutcomeOf(next);
  if (outcome == Outcome::kFail) {
    SetCondition(next, words.failed, now);
    return;
  }
  if (outcome == Outcome::kWait) {
    SetCondition(next, words.waits, now);
    return;
  }
  const std::string since = DigString(ConditionOf(next, kAccepted), "lastTransitionTime");
  if (!IsDue(key, since, options_.provision_ms)) return;
  const auto demands = DemandsOf(next);
  if (!demands) return queue_.AddAt(key, clock_.MonotonicMs() + kRetryMs);
  const auto needed = NodesFor(options_.shape, *demands);
  if (!needed) {
    SetCondition(next, With(words.failed, needed.error().message), now);
    return;
  }
  const auto own = nodes_of_.find(UidOf(next));
  const int64_t there = own == nodes_of_.end() ? 0 : int64_t(own->second.size());
  if (int64_t(nodes_.size()) - there + *needed > options_.shape.most) {
    SetCondition(next, words.waits, now);
    return queue_.AddAt(key, clock_.MonotonicMs() + kRetryMs);
  }
  bool all_ready = true;
  for (int64_t i = 0; i < *needed; ++i) {
    Json node = NodeOf(next, i);
    const auto made = nodes_.find(NameOf(node));
    all_ready = all_ready && made != nodes_.end() && made->second.ready;
    if (made != nodes_.end() || !MayAsk(key, NameOf(node))) continue;
    Submit(key, cluster::Create{cluster::NewRef("", "v1", "nodes", "Node", "", NameOf(node)), base::PrintJson(node)},
           NameOf(node));
  }
  if (all_ready) SetCondition(next, words.provisioned, now);
}

// The nodes first: what is written then is true.
void Autoscaler::Revoke(const ObjectKey& key, const RequestWords& words, Json& next) {
  const auto own = nodes_of_.find(UidOf(next));
  if (own == nodes_of_.end()) {
    SetCondition(next, words.expired, clock_.WallMs());
    SetCondition(next, words.revoked, clock_.WallMs());
    return;
  }
  for (const std::string& name : own->second) {
    if (!MayAsk(key, name)) continue;
    Submit(key, cluster::Delete{cluster::NewRef("", "v1", "nodes", "Node", "", name, nodes_[name].uid)}, name);
  }
}

Autoscaler::Outcome Autoscaler::OutcomeOf(const Json& request) const {
  std::string said = AnnotationOf(request, kProvisioningAnnotation);
  if (said.empty()) said = DigString(request, "spec", "parameters", "provisioning");
  if (said == "fail" || (said == "fail-once" && NameOf(request).ends_with("-1"))) return Outcome::kFail;
  if (said == "expire") return Outcome::kExpire;
  if (said == "revoke") return Outcome::kRevoke;
  if (said == "provide") return Outcome::kProvide;
  return said == "wait" || options_.waits ? Outcome::kWait : Outcome::kProvide;
}

bool Autoscaler::IsDue(const ObjectKey& key, const std::string& since, base::Millis after_ms) {
  const base::Millis due = base::ParseTime(since).value_or(0) + after_ms, now = clock_.WallMs();
  if (now >= due) return true;
  queue_.AddAt(key, clock_.MonotonicMs() + due - now);
  return false;
}

std::optional<std::vector<PodDemand>> Autoscaler::DemandsOf(const Json& request) const {
  std::vector<PodDemand> demands;
  for (const Json& pod_set : ArrayOf(Dig(request, "spec", "podSets"))) {
    const std::string& name = DigString(pod_set, "podTemplateRef", "name");
    const auto found = templates_.find({NamespaceOf(request), name});
    if (found == templates_.end()) return std::nullopt;
    Json pod = Dig(*found->second->body, "template");
    if (!pod.is_object()) pod = Json::object();
    std::vector<std::string> problems;
    demands.push_back({name, cluster::DecodePodLeniently(pod, &problems), IntOf(Child(pod_set, "count"))});
  }
  return demands;
}

Json Autoscaler::NodeOf(const Json& request, int64_t index) const {
  const Json& shape = options_.shape.manifest;
  Json node = shape;
  const std::string name =
      fmt::format("{}-{}-{}", NameOf(shape), std::string_view(UidOf(request)).substr(0, kUidInName), index);
  Json& meta = node["metadata"];
  meta["name"] = name;
  ObjectAt(meta, "labels")["kubernetes.io/hostname"] = name;
  meta["labels"][kRequestLabel] = UidOf(request);
  if (Child(meta, "annotations").is_object()) meta["annotations"].erase(kMostNodesAnnotation);
  return node;
}

bool Autoscaler::MayAsk(const ObjectKey& key, const std::string& node) {
  const auto asked = asked_ms_.find(node);
  const base::Millis now = clock_.MonotonicMs();
  if (asked == asked_ms_.end() || now >= asked->second + kEchoMs) return true;
  queue_.AddAt(key, asked->second + kEchoMs);
  return false;
}

void Autoscaler::Submit(const ObjectKey& key, cluster::CommandBody body, const std::string& node) {
  cluster::Command command;
  command.id = ++last_id_;
  command.deadline_ms = clock_.MonotonicMs() + kWriteMs;
  command.body = std::move(body);
  in_flight_[command.id] = {key, node};
  if (!node.empty()) asked_ms_[node] = clock_.MonotonicMs();
  ++requests_[key].in_flight;
  std::vector<cluster::Command> commands;
  commands.push_back(std::move(command));
  writer_.Submit(std::move(commands));
}

}  // namespace tutti::sim
