// SPDX-License-Identifier: Apache-2.0
// Charges: keeps each queue's sums equal to what its gangs' members hold and what those that wait ask for. A member
// holds while it is bound or reserved and not being deleted (as in Volcano, quota is free from the deletion timestamp
// on); it asks while it could be placed, and no gate keeps it.
#pragma once

#include <utility>

#include "cluster/state.h"
#include "core/admit/queue_waits.h"
#include "core/admit/queues.h"
#include "core/gangs/gang.h"

namespace tutti::core {

class Charges {
 public:
  Charges(const cluster::ClusterState& state, Queues& queues, QueueWaits& waits)
      : state_(state), queues_(queues), waits_(waits) {}

  // Charges the member, or takes its charge back, as its pod now is.
  void Update(Gang& gang, Member& member);
  void TakeBack(const Gang& gang, Member& member);
  // Moves every member's charges to the gang's queues, which may have changed.
  void Move(Gang& gang);

  // Tells whether a charge was taken back since the last TakeChanged, so that gangs that wait for quota may fit now.
  bool freed() const { return freed_; }
  // Returns true if anything was charged, or taken back, since the last call, so that the figures in reasons are old.
  bool TakeChanged() {
    freed_ = false;
    return std::exchange(changed_, false);
  }

 private:
  // Makes the member's charges in the ledger those of this class, or ends them if that is null. Returns false if it was
  // so already.
  bool Set(const Gang& gang, queue::Ledger& ledger, std::shared_ptr<const cluster::PodClass> as, QueueCharge* charge);
  void SetHeld(const Gang& gang, Member& member, std::shared_ptr<const cluster::PodClass> as);

  const cluster::ClusterState& state_;
  Queues& queues_;
  QueueWaits& waits_;
  bool freed_ = false, changed_ = false;
};

}  // namespace tutti::core
