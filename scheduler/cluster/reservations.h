// SPDX-License-Identifier: Apache-2.0
// Reservations: places on nodes that are held for members whose pods are not bound yet.
//
// A reservation may be made before there is a pod. The pod adopts it when it comes. ClusterState owns this, and sees to
// it that each weighs on its node. One thread.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/slots.h"
#include "cluster/pod_class.h"
#include "cluster/takings.h"
#include "model/ids.h"

namespace tutti::cluster {

struct Reservation {
  model::NodeId node;  // invalid: the slot is free
  model::PodId pod;    // that adopted it; invalid: none has
  // As what it weighs, and what it takes; both pass to the entry of the pod that adopts it.
  std::shared_ptr<const PodClass> pod_class;
  Takings takings;
  model::GangId of;    // for which it was made; it stands in for what leaves the node for that. Invalid: for none
  uint32_t place = 0;  // among those without a pod on its node
};

class Reservations {
 public:
  model::ReservationId Add(std::shared_ptr<const PodClass> pod_class, model::NodeId node, Takings takings,
                           model::GangId of);
  // Makes it the pod's, and returns what it was. REQUIRES: none has adopted it.
  Reservation Adopt(model::ReservationId id, model::PodId pod);
  // Another pod has adopted it from now on. REQUIRES: one had.
  void HandOver(model::ReservationId id, model::PodId to) { slots_[id.index()].pod = to; }
  // Ends it, and returns what it was. The id may name another one afterwards.
  Reservation Remove(model::ReservationId id);

  // REQUIRES: it was added, and has not ended.
  const Reservation& at(model::ReservationId id) const { return slots_[id.index()]; }
  size_t count() const { return slots_.size() - free_.size(); }
  // Those on the node that no pod has adopted. In no order; valid until the next change.
  std::span<const model::ReservationId> promised_on(model::NodeId node) const {
    return node.index() < promised_on_.size() ? promised_on_[node.index()] : std::span<const model::ReservationId>();
  }

 private:
  void Unlist(const Reservation& reservation);

  base::Slots<Reservation, 256> slots_;
  std::vector<model::ReservationId> free_;
  std::vector<std::vector<model::ReservationId>> promised_on_;  // by node slot
};

}  // namespace tutti::cluster
