// SPDX-License-Identifier: Apache-2.0
// sim/nodes/autoscaler.h - stands for the autoscaler of a cloud: it answers ProvisioningRequests, and makes the
// nodes that they ask for.
//
// A request goes the way of a real one: accepted after a while, then enough new nodes for all its pods at once, and
// Provisioned when they are Ready. Nodes that are there already are not counted. The nodes carry the request's UID in
// the label kRequestLabel, so all state is in the API server.
//
// What else may become of a request is said by its annotation kProvisioningAnnotation, or by its parameter
// `provisioning` (Kueue makes that of a job's annotation provreq.kueue.x-k8s.io/provisioning):
//   wait       no nodes, until something else is said
//   provide    nodes, although the autoscaler is one that waits (Options::waits)
//   fail       Failed
//   fail-once  Failed, if its name ends with -1: the next attempt gets its nodes
//   expire     BookingExpired, as soon as it is Provisioned
//   revoke     CapacityRevoked, as soon as it is Provisioned and its nodes are taken away
//
// It sees and acts through the ports of cluster/ports.h, on the embedded cluster and on a real one alike. One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/ports.h"
#include "sim/nodes/node_shape.h"
#include "sim/nodes/request_words.h"
#include "sim/store/work_queue.h"

namespace tutti::sim {

inline constexpr const char* kProvisioningAnnotation = "sim.tutti.dev/provisioning";
inline constexpr const char* kRequestLabel = "sim.tutti.dev/provisioning-request";

class Autoscaler {
 public:
  struct Options {
    NodeShape shape;
    base::Millis accept_ms = 1'000;     // from the creation of a request
    base::Millis provision_ms = 2'000;  // from there until its nodes are made
    base::Millis booking_ms = 600'000;  // from Provisioned until its booking expires
    bool waits = false;                 // no request gets nodes before it says `provide`
  };

  // `writer` and `clock` must outlive it.
  Autoscaler(Options options, cluster::ClusterWriter& writer, const base::Clock& clock);

  // Returns the kinds that its feed must watch, beside nodes.
  static std::vector<model::ObjectKind> Kinds();

  // Applies `events`, and does what is due. It does nothing before the first lists are complete.
  void RunOnce(const std::vector<cluster::FeedEvent>& events);
  // Returns when something is due without an event; monotonic.
  std::optional<base::Millis> NextDeadline() const { return queue_.NextTime(); }

 private:
  using Shared = std::shared_ptr<const model::Object>;
  struct Request {
    Shared object;
    size_t in_flight = 0;    // writes without an answer
    std::string decided_on;  // the resourceVersion that the last write of its status was about
    base::Millis decided_ms = 0;
  };
  struct OwnNode {
    std::string uid, request;  // UIDs
    bool ready = false;
  };
  struct Sent {
    ObjectKey request;
    std::string node;  // that is made or taken away; "" for a write of the request
  };
  enum class Outcome { kProvide, kWait, kFail, kExpire, kRevoke };

  void Apply(const cluster::FeedEvent& event);
  void OnObject(const Shared& object);
  void OnGone(const cluster::ObjectGone& gone);
  void OnNode(const model::Node& node);
  void OnNodeGone(const std::string& name);
  void OnAnswer(const cluster::CommandReply& answer);

  void Reconcile(const ObjectKey& key);
  // Write into `next` what is to change of the request's status.
  void Advance(const ObjectKey& key, const RequestWords& words, Json& next);
  void Provide(const ObjectKey& key, const RequestWords& words, Json& next);
  void Revoke(const ObjectKey& key, const RequestWords& words, Json& next);
  Outcome OutcomeOf(const Json& request) const;
  // True once `after_ms` have passed since the wall time `since`; else the request is looked at again then.
  bool IsDue(const ObjectKey& key, const std::string& since, base::Millis after_ms);
  // The pods that it asks for; nothing while a template is missing.
  std::optional<std::vector<PodDemand>> DemandsOf(const Json& request) const;
  Json NodeOf(const Json& request, int64_t index) const;
  // True if nothing was asked of the node of late: the feed may be behind the answer. Else the request is looked at
  // again then.
  bool MayAsk(const ObjectKey& key, const std::string& node);
  // `node`: as in Sent.
  void Submit(const ObjectKey& key, cluster::CommandBody body, const std::string& node = "");

  // Constant after construction.
  const Options options_;
  cluster::ClusterWriter& writer_;
  const base::Clock& clock_;

  std::set<std::string> unsynced_;
  std::map<ObjectKey, Request> requests_;
  std::map<std::string, ObjectKey> by_uid_;
  std::map<ObjectKey, Shared> templates_;
  std::map<std::string, OwnNode> nodes_;                   // those that it made, by name
  std::map<std::string, std::set<std::string>> nodes_of_;  // their names, by the request's UID
  std::map<std::string, base::Millis> asked_ms_;           // by node: when its creation or deletion was asked for
  std::map<cluster::CommandId, Sent> in_flight_;
  cluster::CommandId last_id_ = 0;
  WorkQueue queue_;
};

}  // namespace tutti::sim
