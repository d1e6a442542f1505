// SPDX-License-Identifier: Apache-2.0
// Publisher: says what was decided: PodScheduled conditions, Events, and each dialect's status. Writes what changed,
// once.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cluster/state.h"
#include "core/census.h"
#include "core/gang_book.h"
#include "core/outbox.h"
#include "core/queue_counts.h"
#include "core/scheduler.h"
#include "queue/quota.h"

namespace tutti::core {

class Publisher {
 public:
  Publisher(const cluster::ClusterState& state, GangBook& book, const queue::Quota& quota, const QueueCounts& counts,
            Outbox& outbox, const base::Clock& clock)
      : state_(state), book_(book), quota_(quota), counts_(counts), outbox_(outbox), clock_(clock) {}

  // The member waits: condition PodScheduled=False and a FailedScheduling Event, if that is not what was last said,
  // once what came of the last one has been seen: before, the API server would refuse it. If no node is kept for it
  // any more, the write says that too. True: it is written.
  bool TellWaiting(model::GangId id, Member& member, const std::string& reason, const std::string& message);
  // What was last said of the member counts no more: what is said next is written, and changes the pod.
  static void Distrust(Member& member);
  // The condition on the member's pod is another one now: where it is not what was last said, that is said again.
  void OnCondition(Member& member);
  void TellBound(const Member& member, const std::string& node);
  void TellKept(Member& member);
  // About the gang itself, on its declaring object.
  void TellGang(const Gang& gang, bool warning, const std::string& reason, const std::string& note);

  // Brings the ecosystem's objects in line. Of each object, one write is on its way at a time; what changes meanwhile
  // is told by the next.
  void Report(Gang& gang);
  void ReportQueues(const std::map<queue::QueueKey, dialects::Dialect*>& queues);

  // True when the answer was to a condition or report of ours; a failed one is written again later.
  bool OnAnswer(const cluster::Answer& answer);
  size_t awaited() const { return told_.size() + reports_.size() + queue_reports_.size(); }
  std::function<void(model::GangId, base::Millis at_ms)> on_timer;
  std::function<void(model::GangId)> on_free;  // nothing about the gang is on its way any more: publish what is new
  // All writes of the queue's status are answered; it is to be told again then, or, where one failed, at that instant.
  std::function<void(const queue::QueueKey&, dialects::Dialect*, base::Millis not_before_ms)> on_queue_free;

 private:
  struct Told {
    model::GangKey gang;
    model::PodId pod;
    std::string uid, version;
  };
  bool StillNominated(const Member& member) const;
  std::vector<std::string_view> ResourcesOfNodes() const;
  // What the queue holds of these, and of what it or a queue above caps.
  model::ResourceList Allocated(const queue::QueueKey& key, std::vector<std::string_view> names) const;
  void OnToldAnswer(Told& told, const cluster::Answer& answer);
  void OnReportAnswer(const model::GangKey& key, dialects::Dialect* dialect, bool done);
  const cluster::ClusterState& state_;
  GangBook& book_;
  const queue::Quota& quota_;
  const QueueCounts& counts_;
  Outbox& outbox_;
  const base::Clock& clock_;
  std::unordered_map<cluster::CommandId, Told> told_;
  std::unordered_map<cluster::CommandId, std::pair<model::GangKey, dialects::Dialect*>> reports_;
  std::unordered_map<cluster::CommandId, std::pair<queue::QueueKey, dialects::Dialect*>> queue_reports_;
  struct QueueWrites {
    int count = 0;
    bool failed = false;  // one of them
  };
  std::map<queue::QueueKey, QueueWrites> queues_on_their_way_;
};

}  // namespace tutti::core
