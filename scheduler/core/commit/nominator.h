// SPDX-License-Identifier: Apache-2.0
// Nominator: says on a pod which node is kept for it (status.nominatedNodeName) while something slow comes before its
// bind, so that an autoscaler neither takes that node away nor makes another (upstream:
// NominatedNodeNameForExpectation). A bind ends what it says: the API server does that. If the reservation is given up,
// the pod is told why it waits, and the same write takes the nomination back: see PodStatus::TellWaiting.
#pragma once

#include <string>

#include "cluster/state.h"
#include "core/gangs/agenda.h"
#include "core/outbox.h"

namespace tutti::core {

class Nominator {
 public:
  Nominator(const cluster::ClusterState& state, GangBook& book, Agenda& agenda, Outbox& outbox,
            const base::Clock& clock)
      : state_(state), book_(book), agenda_(agenda), outbox_(outbox), clock_(clock) {}

  // Writes on the pod that `node` is kept for it. One write is on its way at a time: call it again when the gang is
  // considered. REQUIRES: the pod is reserved there.
  void Say(model::GangId id, model::PodId pod, const std::string& node);

  // Forgets what is on its way, for a new term as leader.
  void StartTerm();

 private:
  // Handles a reply. A write that failed is tried again a second later.
  void OnReply(const GangBook::Written& written, const cluster::CommandReply& reply);

  const cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Outbox& outbox_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
