// SPDX-License-Identifier: Apache-2.0
// Tallies: how many pods and gangs wait, bind and are whole: of the whole cluster for metrics, and of each queue for
// its status. Kept as gangs change, so that no figure walks the gangs.
#pragma once

#include "core/gangs/gang_book.h"
#include "core/publish/queue_counts.h"
#include "core/publish/refused_pods.h"

namespace tutti::core {

class Tallies {
 public:
  Tallies(const cluster::ClusterState& state, const GangBook& book) : state_(state), book_(book) {}

  // Counts the gang as it is now, in place of as what it was counted.
  void Count(Gang& gang);
  // Counts the gang as nothing, because it has no members any more.
  void Clear(Gang& gang) { Set(gang, {}); }
  // Forgets the gang, which is about to be closed.
  void Forget(Gang& gang);

  int32_t waiting_gangs() const { return sum_.waiting; }
  GangCounts OfQueue(const queue::QueueKey& key) const { return queues_.Of(key); }
  // Returns how many gangs were counted so far. For tests.
  uint64_t counted() const { return queues_.counted(); }
  // Sets the gauges that it knows.
  void Fill(observe::Observer::Gauges* gauges);
  // CHECKs the queues' counts against the gangs.
  void Audit() const;

 private:
  void Set(Gang& gang, const Tally& now);

  const cluster::ClusterState& state_;
  const GangBook& book_;
  Tally sum_;
  RefusedPods refused_;
  QueueCounts queues_;
};

}  // namespace tutti::core
