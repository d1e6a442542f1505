// SPDX-License-Identifier: Apache-2.0
// Nominator: says on a pod which node is kept for it (status.nominatedNodeName) while something slow comes before its
// bind, so that an autoscaler neither takes that node away nor makes another (upstream:
// NominatedNodeNameForExpectation). A bind ends what it says: the API server does that. If the reservation is given up,
// the pod is told why it waits, and the same write takes the nomination back: see Publisher::TellWaiting.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "cluster/state.h"
#include "core/gang_book.h"
#include "core/outbox.h"

namespace tutti::core {

class Nominator {
 public:
  Nominator(const cluster::ClusterState& state, GangBook& book, Outbox& outbox, const base::Clock& clock)
      : state_(state), book_(book), outbox_(outbox), clock_(clock) {}

  // The pod is to say that `node` is kept for it. One write is on its way at a time: call it again when the gang is
  // considered. REQUIRES: the pod is reserved there.
  void Say(model::GangId id, model::PodId pod, const std::string& node);

  // True if the answer was to a write of ours. One that failed is tried again a second later.
  bool OnAnswer(const cluster::Answer& answer);
  void StartTerm();
  size_t awaited() const { return sent_.size(); }

  std::function<void(model::GangId, base::Millis at_ms)> on_timer;

 private:
  struct Sent {
    model::GangKey gang;
    model::PodId pod;
    std::string uid;
  };
  const cluster::ClusterState& state_;
  GangBook& book_;
  Outbox& outbox_;
  const base::Clock& clock_;
  std::unordered_map<cluster::CommandId, Sent> sent_;
};

}  // namespace tutti::core
