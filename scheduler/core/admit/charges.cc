// SPDX-License-Identifier: Apache-2.0
#include "core/admit/charges.h"

#include "base/planted.h"
#include "core/gangs/lightest.h"

namespace tutti::core {

void Charges::Update(Gang& gang, Member& member) {
  if (gang.charged_to.empty()) return TakeBack(gang, member);
  const cluster::PodEntry& entry = state_.pod(member.pod);
  const model::Pod& pod = *entry.pod;
  const bool there = !pod.meta.deleting() && !pod.done();
  const bool forgotten =
      base::Planted(base::Bug::kForgetCharge) || (gang.preemption && base::Planted(base::Bug::kFreeTwice));
  const bool holds = there && ((entry.reserved && !forgotten) || pod.occupies());
  SetHeld(gang, member, holds ? entry.pod_class : nullptr);
  const bool asks = there && !holds && !pod.bound() && !member.held_back && pod.scheduling_gates.empty();
  Set(gang, queues_.pending(), asks ? entry.pod_class : nullptr, &member.asked);
}

void Charges::TakeBack(const Gang& gang, Member& member) {
  SetHeld(gang, member, nullptr);
  Set(gang, queues_.pending(), nullptr, &member.asked);
}

void Charges::SetHeld(const Gang& gang, Member& member, std::shared_ptr<const cluster::PodClass> as) {
  const bool had = member.held.as != nullptr, has = as != nullptr;
  if (had && !(as == member.held.as))
    for (const queue::ChargeId id : member.held.ids) waits_.OnRelease(id);
  if (!Set(gang, queues_.used(), std::move(as), &member.held)) return;
  freed_ = freed_ || had;
  changed_ = true;
  if (has && base::Planted(base::Bug::kChargeTwice))
    queues_.Charge(queues_.used(), gang.charged_to.front(), WeightOf(*member.held.as));
}

bool Charges::Set(const Gang& gang, queue::Ledger& ledger, std::shared_ptr<const cluster::PodClass> as,
                  QueueCharge* charge) {
  if (charge->as == as) return false;
  for (const queue::ChargeId id : charge->ids) queues_.Release(ledger, id);
  charge->ids.clear();
  charge->as = std::move(as);
  if (charge->as)
    for (const queue::QueueKey& queue : gang.charged_to)
      charge->ids.push_back(queues_.Charge(ledger, queue, WeightOf(*charge->as)));
  return true;
}

void Charges::Move(Gang& gang) {
  QueueKeys queues = QueuesOf(gang);
  if (gang.charged_to == queues) return;
  // A declaration that vanished or became unreadable names no queue, but its members still hold what they hold.
  if (!gang.spec.problem.empty() && gang.spec.queue.empty()) return;
  for (Member* member : gang.members) TakeBack(gang, *member);
  gang.charged_to = std::move(queues);
  for (Member* member : gang.members) Update(gang, *member);
}

}  // namespace tutti::core
