// SPDX-License-Identifier: Apache-2.0
// RightToEvict: why a pod may be evicted for a gang, if it may, as far as settings, priorities and the names of queues
// say. What queues have at the moment does not count.
//
// A pod goes by one right alone. Between gangs of two queues that is the share, where queues reclaim, else the
// priority. So a pod that goes for a share never comes back for its priority. Both the choice of victims and the next
// leader, which finds that choice recorded, ask this. Scheduler thread only.
#pragma once

#include <cstdint>
#include <optional>

#include "cluster/state.h"
#include "core/gangs/gang_book.h"
#include "core/gangs/preemption.h"
#include "core/options.h"

namespace tutti::core {

class RightToEvict {
 public:
  // Computes the rights of `gang`. All must outlive it. `now_ms` (wall time): a gang that has come before this one by a
  // priority that rises (model::GangRank) does not go for its lower declared one. nullopt: the choice was made some time
  // ago, when that may not have been so.
  RightToEvict(const Options& options, const cluster::ClusterState& state, const GangBook& book, const Gang& gang,
               std::optional<base::Millis> now_ms);

  // Returns false if a member or its profile says that no pod is to be evicted for it.
  bool any() const { return any_; }
  // Of the gang. One that gets quota before it has pods may have a priority for that alone, which no other pods know:
  // then it has that of its pods, if that is lower.
  int32_t priority() const { return priority_; }
  bool by_priority() const { return by_priority_; }
  bool within_queue() const { return within_queue_; }
  // Tells whether pods of gangs of other queues go for the queues' shares alone.
  bool shares_decide() const { return shares_decide_; }
  // Returns why a pod of gang `of` with this priority (GoesBy) may be evicted; nullopt: it may not. `of` null: it has
  // no gang.
  std::optional<EvictionCause> CauseFor(const Gang* of, int32_t priority) const;
  // Tells whether a pod was kept by CauseFor because of what time changes: a priority that has risen.
  bool waits_for_time() const { return waits_for_time_; }

 private:
  bool HasRisenAbove(const Gang& of) const;

  const GangBook& book_;
  const Gang& gang_;
  const std::optional<base::Millis> now_ms_;
  int32_t priority_;
  queue::QueueKey queue_;  // without a name: it has none
  mutable bool waits_for_time_ = false;
  bool any_ = false, by_priority_ = false, within_queue_ = false, shares_decide_ = false;
};

}  // namespace tutti::core
