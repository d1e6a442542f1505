// SPDX-License-Identifier: Apache-2.0
// QueueWatch: keeps the room that plans hold in line with the declared capabilities of their queues, which people
// lower. What is bound stays. A plan of which no bind has left is not above that limit: it gives its room up and asks
// again, in its turn.
#pragma once

#include "cluster/state.h"
#include "core/admit/queues.h"
#include "core/commit/plans.h"

namespace tutti::core {

class QueueWatch {
 public:
  QueueWatch(const cluster::ClusterState& state, GangBook& book, Agenda& agenda, const Queues& queues, Plans& plans)
      : state_(state), book_(book), agenda_(agenda), queues_(queues), plans_(plans) {}

  // Handles that queues are declared otherwise than before.
  void OnQueuesChanged();
  // Handles a gang that has come to another queue.
  void OnMoved(model::GangId id);

 private:
  // Tells whether what the plan holds, and has not sent, is within the capabilities. REQUIRES: a plan.
  bool MayHold(const Gang& gang) const;
  void GiveUp(model::GangId id);

  const cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  const Queues& queues_;
  Plans& plans_;
};

}  // namespace tutti::core
