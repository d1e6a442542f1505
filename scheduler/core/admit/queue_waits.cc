// SPDX-License-Identifier: Apache-2.0
#include "core/admit/queue_waits.h"

#include "base/planted.h"

namespace tutti::core {

using model::GangId;
using queue::Ask;
using queue::CellId;
using queue::QueueId;

QueueWaits::~QueueWaits() {
  for (const auto& [queue, cells] : freed_) {
    for (const CellId cell : cells) queues_.tree().cells().Release(cell);
    queues_.tree().Release(queue);
  }
  for (const auto& [gang, promise] : promised_)
    for (const QueueId queue : promise.first) queues_.tree().Release(queue);
}

queue::Waits::Leaves QueueWaits::LeavesOf(const Gang& gang) const {
  queue::Waits::Leaves leaves;
  for (const queue::QueueKey& key : QueuesOf(gang)) {
    leaves.push_back(queues_.tree().Find(key));
    if (!leaves.back().valid()) return {};
  }
  return leaves;
}

void QueueWaits::Follow(GangId id) {
  Gang& gang = book_.at(id);
  queues_.waits().Erase(id);
  if (gang.refusal && !gang.refusal->asks_queue.empty()) {
    queue::Waits::Leaves leaves = LeavesOf(gang);
    // Members of a whole gang may each ask for another amount: the least of each may fit where none of them does.
    Ask ask(queues_.tree().cells(), gang.refusal->asks_queue);
    if (leaves.empty() || !queues_.waits().Put(id, std::move(leaves), gang.line.rank(), std::move(ask)))
      book_.WakeOn(gang, framework::Wake::kQueue);
  }
  if (!promised_.contains(id)) return;
  Redeem(id);
  WakeFreed();
}

void QueueWaits::Forget(GangId id) {
  queues_.waits().Erase(id);
  Redeem(id);
}

void QueueWaits::Redeem(GangId id) {
  const auto at = promised_.find(id);
  if (at == promised_.end()) return;
  for (const QueueId queue : at->second.first) {
    Note(queue, at->second.second);
    queues_.tree().Release(queue);
  }
  promised_.erase(at);
}

void QueueWaits::OnRelease(queue::ChargeId charge) {
  Note(queues_.used().queue(charge), queues_.used().amounts(charge));
}

void QueueWaits::Note(QueueId queue, const Ask& amounts) {
  if (queues_.waits().size() == 0) return;
  const auto [at, first] = freed_.try_emplace(queue);
  if (first) queues_.tree().Hold(queue);
  for (const auto& [cell, amount] : amounts)
    if (at->second.insert(cell).second) queues_.tree().cells().Hold(cell);
}

void QueueWaits::WakeFreed() {
  for (const auto& [queue, cells] : std::exchange(freed_, {})) {
    Wake(queues_.waits().Wake(queue, std::vector(cells.begin(), cells.end()), clock_.WallMs()));
    for (const CellId cell : cells) queues_.tree().cells().Release(cell);
    queues_.tree().Release(queue);
  }
}

void QueueWaits::OnQueueChanged(const queue::QueueKey& key) {
  const QueueId queue = queues_.tree().Find(key);
  if (!queue.valid() || base::Planted(base::Bug::kWakeNobody)) return;
  for (const GangId id : queues_.waits().TakeBelow(queue)) agenda_.MarkWoken(id);
}

void QueueWaits::OnLimitsChanged() { Wake(queues_.waits().WakeAnywhere(clock_.WallMs())); }

void QueueWaits::Wake(const std::vector<GangId>& woken) {
  if (base::Planted(base::Bug::kWakeNobody)) return;
  for (const GangId id : woken) {
    const Gang& gang = book_.at(id);
    queue::Waits::Leaves leaves = LeavesOf(gang);
    if (!leaves.empty() && gang.refusal) {
      for (const QueueId queue : leaves) queues_.tree().Hold(queue);
      promised_.emplace(id, std::pair(std::move(leaves), Ask(queues_.tree().cells(), gang.refusal->asks_queue)));
    }
    agenda_.MarkWoken(id);
  }
}

}  // namespace tutti::core
