// SPDX-License-Identifier: Apache-2.0
#include "core/commit/queue_watch.h"

#include <algorithm>
#include <vector>

#include "core/gangs/lightest.h"

namespace tutti::core {

using model::GangId;

// All that are beyond give up together, so that the first in line has its room first.
void QueueWatch::OnQueuesChanged() {
  std::vector<GangId> beyond;
  for (const GangId id : plans_.all())
    if (!MayHold(book_.at(id))) beyond.push_back(id);
  for (const GangId id : beyond) GiveUp(id);
}

void QueueWatch::OnMoved(GangId id) {
  if (const Gang& gang = book_.at(id); gang.plan && !MayHold(gang)) GiveUp(id);
}

// Once a bind of a gang that starts has left, the others follow: to undo the gang would cost more.
bool QueueWatch::MayHold(const Gang& gang) const {
  if (gang.charged_to.empty() || (!gang.whole && gang.plan->bind_left)) return true;
  model::ResourceList held;
  for (const auto& [member, assignment] : gang.plan->open)
    if (assignment.stage == Assignment::Stage::kReserved)
      held.AddAll(WeightOf(*state_.pod(book_.at(member).pod).pod_class));
  return std::ranges::all_of(gang.charged_to,
                             [&](const auto& queue) { return queues_.IsWithinCapability(queue, held); });
}

void QueueWatch::GiveUp(GangId id) {
  plans_.ReleaseUnsent(id);
  agenda_.MarkReady(id);
}

}  // namespace tutti::core
