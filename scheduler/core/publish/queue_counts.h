// SPDX-License-Identifier: Apache-2.0
// QueueCounts: how many gangs of each queue wait, start, run or have ended. Counts are kept as gangs change, so that a
// report of a queue costs nothing for the gangs that did not change.
//
// Invariant: between cycles, each gang that is not touched is counted once, by its queue and state of now.
#pragma once

#include <cstdint>
#include <map>

#include "core/gangs/gang.h"
#include "queue/ids.h"

namespace tutti::core {

class QueueCounts {
 public:
  using Counts = GangCounts;

  // Counts the gang as it is now, in place of as it was.
  void Count(Gang& gang);
  // Forgets the gang, which is about to be closed.
  void Forget(Gang& gang);
  Counts Of(const queue::QueueKey& key) const;
  // Returns the field in which Count counts the gang.
  static int64_t Counts::* Field(const Gang& gang);
  // Returns how many gangs were counted so far. For tests.
  uint64_t counted() const { return counted_; }

 private:
  void Add(const Gang& gang, int64_t by);

  std::map<queue::QueueKey, Counts> of_;  // of queues with gangs
  uint64_t counted_ = 0;
};

}  // namespace tutti::core
