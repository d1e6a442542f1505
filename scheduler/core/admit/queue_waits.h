// SPDX-License-Identifier: Apache-2.0
// QueueWaits: gangs that wait for room in their queue. Each is woken when there could be enough for it, and for nothing
// else that happens in queues. One thread.
//
// Those woken together have room together. One that did not take its room, for it found no nodes, say, leaves it to the
// next that waits for some of it.
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
  QueueWaits(Queues& queues, GangBook& book, Agenda& agenda) : queues_(queues), book_(book), agenda_(agenda) {}
  ~QueueWaits();
  QueueWaits(const QueueWaits&) = delete;
  QueueWaits& operator=(const QueueWaits&) = delete;

  // The gang was considered: it waits for what its refusal asks of the queue, if it does.
  void Follow(model::GangId id);
  // The gang is about to be closed.
  void Forget(model::GangId id);

  // The charge is about to be released: WakeFreed has something to look at.
  void OnRelease(queue::ChargeId charge);
  // Makes ready those that may have what was released since the last call.
  void WakeFreed();
  // The queue's declaration, or its parent, is another one: all that wait below it are to be looked at.
  void OnQueueChanged(const queue::QueueKey& key);
  // Limits may have risen anywhere.
  void OnLimitsChanged();

 private:
  // Gives back what the gang was promised, if it was.
  void Redeem(model::GangId id);
  void Note(queue::QueueId queue, const queue::Ask& amounts);
  // Makes them ready, and remembers what they were promised.
  void Wake(const std::vector<model::GangId>& woken);

  Queues& queues_;
  GangBook& book_;
  Agenda& agenda_;
  std::map<queue::QueueId, std::set<queue::CellId>> freed_;  // which cells of which queue; all are held
  // What those asked for that were woken and not considered since, each of its queue, which is held.
  std::map<model::GangId, std::pair<queue::QueueId, queue::Ask>> promised_;
};

}  // namespace tutti::core
