// SPDX-License-Identifier: Apache-2.0
// Speculation: pods that are evicted, with what that releases in their queues. Ending it undoes both together.
//
// While it lasts nodes have the room of the evicted pods, and a queue that held a charge for one of them has that much
// less in use, and so have the queues above it. The ordinary calls then answer "would it fit without these pods?":
// Planner::PlaceRequired for nodes, QueueAdmission for the queue, Policy::MayTakeFrom for the right to it:
//
//   Speculation without(planner.what_if(), book, queues);
//   for (const model::PodId victim : victims) without.Evict(victim);
//   if (admission.ToStart(gang, census, requirement).admitted()) result = planner.PlaceRequired(gang, ...);
//
// What queues deserve and their limits are as of the last Queues::Renew. It changes what is used. It does not change
// limits or shares.
// Speculations nest, the last begun ends first (CHECKed). What is charged or released within one is undone at its end, as
// well. To spare one of several victims, end the speculation and begin one without it. One thread.
#pragma once

#include "cluster/what_if.h"
#include "core/admit/queues.h"
#include "core/gangs/gang_book.h"

namespace tutti::core {

class Speculation {
 public:
  // All must outlive it. `what_if` is the one that searches go on from.
  Speculation(cluster::WhatIf& what_if, const GangBook& book, Queues& queues)
      : what_if_(what_if), book_(book), used_(queues.used()), scope_(what_if), mark_(used_.Here()) {}
  ~Speculation() { used_.Rewind(mark_); }
  Speculation(const Speculation&) = delete;
  Speculation& operator=(const Speculation&) = delete;

  // Takes the pod off its node and releases what it is charged, if it is a gang's member that is. REQUIRES: as
  // WhatIf::Evict.
  void Evict(model::PodId pod) {
    what_if_.Evict(pod);
    if (const QueueCharge* held = book_.ChargeOf(pod))
      for (const queue::ChargeId id : held->ids) used_.Release(id);
  }

 private:
  cluster::WhatIf& what_if_;
  const GangBook& book_;
  queue::Ledger& used_;
  const cluster::WhatIf::Scope scope_;
  const queue::Ledger::Mark mark_;
};

}  // namespace tutti::core
