// SPDX-License-Identifier: Apache-2.0
#include "core/admit/charges.h"

#include <algorithm>

#include "base/planted.h"
#include "core/gangs/lightest.h"

namespace tutti::core {

void Charges::Update(Gang& gang, Member& member) {
  const cluster::PodEntry& entry = state_.pod(member.pod);
  const bool holds = ((entry.reservation && !base::Planted(base::Bug::kForgetCharge)) || entry.pod->occupies()) &&
                     !entry.pod->meta.deleting();
  if (!holds || gang.charged_queue.empty()) return TakeBack(gang, member);
  if (member.charged == entry.pod_class) return;
  TakeBack(gang, member);
  member.charged = entry.pod_class;
  charged_ = true;
  quota_.Charge({gang.key.dialect, gang.charged_queue}, WeightOf(*member.charged), +1);
}

void Charges::TakeBack(Gang& gang, Member& member) {
  if (!member.charged) return;
  quota_.Charge({gang.key.dialect, gang.charged_queue}, WeightOf(*member.charged), -1);
  member.charged = nullptr;
  freed_ = true;
}

void Charges::Move(Gang& gang) {
  if (gang.charged_queue == gang.spec.queue) return;
  // A declaration that vanished or became unreadable names no queue, but its members still hold what they hold.
  if (!gang.spec.problem.empty() && gang.spec.queue.empty()) return;
  for (Member* member : gang.members) TakeBack(gang, *member);
  gang.charged_queue = gang.spec.queue;
  for (Member* member : gang.members) Update(gang, *member);
}

}  // namespace tutti::core
