// SPDX-License-Identifier: Apache-2.0
// Charges: keeps each queue's sum equal to what its gangs' members hold: bound or reserved, and not being deleted
// (as in Volcano, quota is free from the deletion timestamp on).
#pragma once

#include "cluster/state.h"
#include "core/gangs/gang.h"
#include "queue/quota.h"

namespace tutti::core {

class Charges {
 public:
  Charges(const cluster::ClusterState& state, queue::Quota& quota) : state_(state), quota_(quota) {}

  // Charges the member, or takes its charge back, as its pod now is.
  void Update(Gang& gang, Member& member);
  void TakeBack(Gang& gang, Member& member);
  // After the gang's queue may have changed: moves every member's charge.
  void Move(Gang& gang);

  // True if a charge was taken back since the last call: gangs that wait for quota may be lucky now.
  bool TakeFreed() { return std::exchange(freed_, false); }
  bool freed() const { return freed_; }
  // True if anything was charged since: the figures in reasons are old.
  bool TakeCharged() { return std::exchange(charged_, false); }

 private:
  const cluster::ClusterState& state_;
  queue::Quota& quota_;
  bool freed_ = false, charged_ = false;
};

}  // namespace tutti::core
