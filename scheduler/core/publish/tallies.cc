// SPDX-License-Identifier: Apache-2.0
#include "core/publish/tallies.h"

#include <map>

#include "base/check.h"

namespace tutti::core {

using dialects::GangState;

void Tallies::Count(Gang& gang) {
  Tally now;
  for (const Member* member : gang.members) {
    if (member->promised) continue;
    const model::Pod& pod = *state_.pod(member->pod).pod;
    now.running += pod.phase == model::PodPhase::kRunning && !pod.meta.deleting();
    if (pod.bound() || pod.done()) continue;
    if (member->held_back || !pod.scheduling_gates.empty())
      ++now.gated;
    else if (gang.refusal)
      ++now.unschedulable;
    else
      ++now.active;
  }
  now.binding = gang.state == GangState::kBinding || gang.state == GangState::kAdmitted;
  if (now.unschedulable > 0) now.refused_by = refused_.Of(book_.SchedulerName(gang), *gang.refusal);
  now.whole = gang.state == GangState::kWhole;
  now.waiting = gang.state < GangState::kAdmitted && !AwaitsPods(gang);
  Set(gang, now);
  queues_.Count(gang);
}

void Tallies::Set(Gang& gang, const Tally& now) {
  Tally& before = gang.counted.tally;
  for (int32_t Tally::* field :
       {&Tally::active, &Tally::unschedulable, &Tally::gated, &Tally::waiting, &Tally::binding, &Tally::whole})
    sum_.*field += now.*field - before.*field;
  refused_.Add(before.refused_by, -before.unschedulable);
  refused_.Add(now.refused_by, now.unschedulable);
  before = now;
}

void Tallies::Forget(Gang& gang) {
  Clear(gang);
  queues_.Forget(gang);
}

void Tallies::Fill(observe::Observer::Gauges* gauges) {
  gauges->active_pods = sum_.active;
  gauges->unschedulable_pods = sum_.unschedulable;
  gauges->gated_pods = sum_.gated;
  gauges->waiting_gangs = sum_.waiting;
  gauges->binding_gangs = sum_.binding;
  gauges->whole_gangs = sum_.whole + static_cast<int64_t>(book_.settled_whole());
  gauges->refused = refused_.Changed();
}

void Tallies::Audit() const {
  std::map<queue::QueueKey, GangCounts> counts;
  book_.ForEach([&](model::GangId, const Gang& gang) {
    if (gang.counted.queue.name.empty()) return;
    ++(counts[gang.counted.queue].*gang.counted.field);
    TUTTI_CHECK(
        gang.line.touched || (gang.counted.queue == QueueOf(gang) && gang.counted.field == QueueCounts::Field(gang)),
        "a gang changed and was not counted for its queue");
  });
  for (const auto& [key, count] : counts)
    TUTTI_CHECK(queues_.Of(key) == count, "a queue's counts are not those of its gangs");
}

}  // namespace tutti::core
