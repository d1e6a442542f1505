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
  EndWaiting(id);
  if (gang.refusal && framework::Any(gang.refusal->wakes & framework::Wake::kQueue)) AwaitDeclaration(id, gang);
  if (gang.refusal && !gang.refusal->asks_queue.empty()) {
    queue::Waits::Leaves leaves = LeavesOf(gang);
    // Members of a whole gang may each ask for another amount: the least of each may fit where none of them does.
    Ask ask(queues_.tree().cells(), gang.refusal->asks_queue);
    if (leaves.empty() || !queues_.waits().Put(id, std::move(leaves), gang.line.rank(), std::move(ask))) {
      AwaitDeclaration(id, gang);
      book_.WakeOn(gang, framework::Wake::kPodGone);
    }
  }
  if (!promised_.contains(id)) return;
  Redeem(id);
  WakeFreed();
}

void QueueWaits::Forget(GangId id) {
  EndWaiting(id);
  Redeem(id);
}

void QueueWaits::AwaitDeclaration(GangId id, const Gang& gang) {
  std::vector<queue::QueueKey>& keys = awaited_by_[id];
  for (const queue::QueueKey& own : QueuesOf(gang)) {
    keys.push_back(own);
    for (queue::QueueKey& above : queues_.Path(own)) keys.push_back(std::move(above));
  }
  for (const queue::QueueKey& key : keys) await_[key].insert(id);
}

void QueueWaits::EndWaiting(GangId id) {
  queues_.waits().Erase(id);
  const auto awaited = awaited_by_.find(id);
  if (awaited == awaited_by_.end()) return;
  for (const queue::QueueKey& key : awaited->second)
    if (const auto at = await_.find(key); at != await_.end() && at->second.erase(id) > 0 && at->second.empty())
      await_.erase(at);
  awaited_by_.erase(awaited);
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
  if (base::Planted(base::Bug::kWakeNobody)) return;
  if (const auto await = await_.find(key); await != await_.end())
    for (const GangId id : await->second) agenda_.MarkWoken(id);
  if (const QueueId queue = queues_.tree().Find(key); queue.valid())
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
