// SPDX-License-Identifier: Apache-2.0
// Drain: what each event changes, and what it wakes. It also knows whether there may be decisions at all: once all
// kinds are synced, while this replica leads, and when no write of an earlier leader can take effect any more.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/kinds.h"
#include "core/gangs/run_lengths.h"
#include "core/options.h"
#include "core/passes/enrollment.h"
#include "core/place/certificates.h"
#include "core/place/rankings.h"

namespace tutti::core {

class Drain {
 public:
  Drain(const Options& options, cluster::ClusterState& state, const dialects::DialectList& dialects, Queues& queues,
        QueueWaits& queue_waits, QuotaDesk& quota_desk, Rankings& rankings, GangBook& book, Agenda& agenda,
        Charges& charges, Certificates& certificates, Outbox& outbox, ExtenderDesk& extender_desk, Committer& committer,
        PodStatus& pod_status, ObjectKeeper& keeper, QueueStatus& queue_status, Enrollment& enrollment,
        RunLengths& lengths, const base::Clock& clock);
  Drain(const Drain&) = delete;  // its handlers point to it
  Drain& operator=(const Drain&) = delete;

  void Apply(const cluster::PodChanged& event);
  void Apply(const cluster::PodGone& event);
  void Apply(const cluster::NodeChanged& event);
  void Apply(const cluster::NodeGone& event);
  void Apply(const cluster::ObjectChanged& event);
  void Apply(const cluster::SelectionChanged& event);
  void Apply(const cluster::ObjectGone& event);
  void Apply(const cluster::KindSynced& event);
  void Apply(const cluster::KindUnreadable& event);
  void Apply(const cluster::Leadership& event);
  void Apply(const cluster::CommandReply& event);
  void Apply(const cluster::CommandDelayed& event);
  void Apply(const cluster::ExtenderReply& event);

  // Returns the kinds that have handlers, as a feed is asked for them.
  std::vector<model::ObjectKind> Kinds() const;
  bool synced() const { return unsynced_.empty(); }
  // Says which lists are to come, and which of them fail. Empty: all are there.
  std::string WhyNotSynced() const;
  bool leading() const { return leading_; }
  base::Millis plan_after_ms() const { return plan_after_ms_; }  // monotonic; no decision before
  bool MayDecide() const;

  // Returns what happened since the last call, besides what the state and the charges know themselves.
  framework::Wake TakeHappened() { return std::exchange(happened_, framework::Wake::kNothing); }
  // Adds the labels that dialects give to nodes, if they may be others now. A node may tell of other nodes' labels,
  // each thing once.
  void RelabelNodes();

 private:
  // What an object's change does, and its end. `changed` is empty where another event carries the change.
  struct Handler {
    std::function<void(const cluster::ObjectChanged&)> changed;
    std::function<void(const cluster::ObjectGone&)> gone;
  };

  // Gives each kind its handlers. A kind that the core itself reads is one row here.
  void HandleKinds(const Options& options);
  void HandleStorage();
  void HandleSelections();
  void HandleDialect(dialects::Dialect& dialect);
  void Handle(const model::ObjectKind& kind, Handler handler);

  // Notes how long the pod has run, which has ended well.
  void NoteRun(model::PodId id);
  void PutNode(const std::shared_ptr<const model::Node>& node);
  // Returns the node with the labels that dialects add, in place of those they added before.
  std::shared_ptr<const model::Node> Labelled(const std::shared_ptr<const model::Node>& node);
  void FollowNamespace(bool changed);
  void PutStorage(const model::Object& object);
  void PutBudget(const model::Object& object);
  void FollowStorage(const cluster::Storage::Applied& applied);
  // Has pods tried again that are selected in that namespace, and no others: rollouts change selections all the time.
  void FollowSelection(const std::string& ns, bool changed);
  void Follow(dialects::Dialect& dialect, const dialects::Touched& touched);
  void FollowQueues(const dialects::Dialect& dialect, const std::set<std::string>& names);
  void TellServed(const std::string& kind_name, bool served);
  // Tells the dialects that read the kind why its objects are not known; empty: they are.
  void SetUnreadable(const std::string& kind_name, const std::string& why);

  cluster::KindTable kinds_;
  std::vector<std::vector<Handler>> handlers_;  // by KindId, in the order of the dialects
  std::set<cluster::KindId> unsynced_;          // their first list is to come
  std::set<cluster::KindId> needed_;            // without these nothing is decided
  std::map<cluster::KindId, std::string> unreadable_;  // they cannot be listed: why
  cluster::ClusterState& state_;
  const dialects::DialectList& dialects_;
  Queues& queues_;
  QueueWaits& queue_waits_;
  QuotaDesk& quota_desk_;
  Rankings& rankings_;
  GangBook& book_;
  Agenda& agenda_;
  Charges& charges_;
  Certificates& certificates_;
  Outbox& outbox_;
  ExtenderDesk& extender_desk_;
  Committer& committer_;
  PodStatus& pod_status_;
  ObjectKeeper& keeper_;
  QueueStatus& queue_status_;
  Enrollment& enrollment_;
  RunLengths& lengths_;
  const base::Clock& clock_;
  framework::Wake happened_ = framework::Wake::kNothing;
  bool relabel_ = false;
  bool leading_ = false;
  base::Millis plan_after_ms_ = 0;
};

}  // namespace tutti::core
