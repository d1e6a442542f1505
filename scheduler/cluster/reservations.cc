// SPDX-License-Identifier: Apache-2.0
#include "cluster/reservations.h"

#include <utility>

#include "base/check.h"

namespace tutti::cluster {

using model::ReservationId;

ReservationId Reservations::Add(std::shared_ptr<const PodClass> pod_class, model::NodeId node, Takings takings,
                                model::GangId of) {
  ReservationId id;
  if (free_.empty()) {
    id = ReservationId(static_cast<uint32_t>(slots_.size()));
    slots_.Add();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  if (promised_on_.size() <= node.index()) promised_on_.resize(node.index() + 1);
  std::vector<ReservationId>& there = promised_on_[node.index()];
  slots_[id.index()] = {node, {}, std::move(pod_class), std::move(takings), of, static_cast<uint32_t>(there.size())};
  there.push_back(id);
  return id;
}

Reservation Reservations::Adopt(ReservationId id, model::PodId pod) {
  Reservation& reservation = slots_[id.index()];
  TUTTI_CHECK(reservation.node && !reservation.pod, "a reservation is adopted once");
  Unlist(reservation);
  return std::exchange(reservation, {reservation.node, pod, nullptr, {}, reservation.of, 0});
}

Reservation Reservations::Remove(ReservationId id) {
  Reservation& reservation = slots_[id.index()];
  TUTTI_CHECK(reservation.node.valid(), "a reservation ends once");
  if (!reservation.pod) Unlist(reservation);
  free_.push_back(id);
  return std::exchange(reservation, {});
}

void Reservations::Unlist(const Reservation& reservation) {
  std::vector<ReservationId>& there = promised_on_[reservation.node.index()];
  slots_[there.back().index()].place = reservation.place;
  there[reservation.place] = there.back();
  there.pop_back();
}

}  // namespace tutti::cluster
