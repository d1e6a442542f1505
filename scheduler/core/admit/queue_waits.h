// SPDX-License-Identifier: Apache-2.0
// QueueWaits: gangs that wait for room in their queue. A gang is woken when there could be enough room for it, and by
// nothing else that happens in queues. One thread.
//
// All gangs of one wake-up fit together. A gang that does not take its room, because it finds no nodes for example,
// leaves it to the next that waits for some of it. A gang that no amount would help, as its queue is closed or there is
// none, is woken when that queue, or one above it, is declared otherwise.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/admit/queues.h"
#include "core/gangs/agenda.h"

namespace tutti::core {

class QueueWaits {
 public:
  QueueWaits(Queues& queues, GangBook& book, Agenda& agenda, const base::Clock& clock)
      : queues_(queues), book_(book), agenda_(agenda), clock_(clock) {}
  ~QueueWaits();
  QueueWaits(const QueueWaits&) = delete;
  QueueWaits& operator=(const QueueWaits&) = delete;

  // Notes that the gang was considered, and follows what its refusal asks of the queue, if it asks for anything.
  void Follow(model::GangId id);
  // Forgets the gang, which is about to be closed.
  void Forget(model::GangId id);

  // Notes the charge, which is about to be released, for WakeFreed.
  void OnRelease(queue::ChargeId charge);
  // Makes the gangs ready that may have what was released since the last call.
  void WakeFreed();
  // Makes the gangs of the queue and of those below it ready, because its declaration or its parent changed.
  void OnQueueChanged(const queue::QueueKey& key);
  // Makes the gangs ready for which there may be room now, because limits may have risen anywhere.
  void OnLimitsChanged();

 private:
  // Returns the ids of the gang's queues; none: some queue of it has none, or it is in no queue.
  queue::Waits::Leaves LeavesOf(const Gang& gang) const;
  // Makes the gang wait for another declaration of its queues, or of some above them.
  void AwaitDeclaration(model::GangId id, const Gang& gang);
  void EndWaiting(model::GangId id);
  // Gives back what the gang was promised, if anything.
  void Redeem(model::GangId id);
  void Note(queue::QueueId queue, const queue::Ask& amounts);
  // Makes the gangs ready, and remembers what they were promised.
  void Wake(const std::vector<model::GangId>& woken);

  Queues& queues_;
  GangBook& book_;
  Agenda& agenda_;
  const base::Clock& clock_;
  std::map<queue::QueueId, std::set<queue::CellId>> freed_;  // which cells of which queue; all are held
  std::map<queue::QueueKey, std::set<model::GangId>> await_;                     // a declaration of the queue
  absl::flat_hash_map<model::GangId, std::vector<queue::QueueKey>> awaited_by_;  // where in `await_` the gang is
  // What gangs asked for that were woken and not considered since, each with its queues, which are held.
  std::map<model::GangId, std::pair<queue::Waits::Leaves, queue::Ask>> promised_;
};

}  // namespace tutti::core
