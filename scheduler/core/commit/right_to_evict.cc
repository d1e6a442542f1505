// SPDX-License-Identifier: Apache-2.0
#include "core/commit/right_to_evict.h"

#include <algorithm>

namespace tutti::core {

RightToEvict::RightToEvict(const Options& options, const cluster::ClusterState& state, const GangBook& book,
                           const Gang& gang, std::optional<base::Millis> now_ms)
    : book_(book), gang_(gang), now_ms_(now_ms), priority_(book.Priority(gang)) {
  using GangPreemption = Options::GangPreemption;
  const framework::Profile* profile = framework::FindProfile(options.profiles, book.SchedulerName(gang));
  any_ = profile && profile->preemption && std::ranges::none_of(gang.members, [&state](const Member* member) {
           return state.pod(member->pod).pod->spec->never_preempts;
         });
  if (!any_) return;
  if (gang.quota)
    for (const Member* member : gang.members)
      priority_ = std::min(priority_, state.pod(member->pod).pod->spec->priority);
  if (!gang.spec.queue.empty()) queue_ = QueueOf(gang);
  within_queue_ = options.gang_preemption == GangPreemption::kWithinQueue;
  by_priority_ = (options.gang_preemption != GangPreemption::kNever || options.choose_victims) &&
                 (!within_queue_ || !queue_.name.empty());
  shares_decide_ = options.queue_rule.reclaim && !queue_.name.empty();
}

bool RightToEvict::HasRisenAbove(const Gang& of) const {
  if (!now_ms_ || (of.spec.priority_slope == 0 && gang_.spec.priority_slope == 0)) return false;
  const auto risen = [this](const Gang& gang) {
    return model::GangRank{book_.Priority(gang), book_.Created(gang), gang.spec.priority_slope}.PriorityAt(*now_ms_);
  };
  return risen(of) >= risen(gang_);
}

std::optional<EvictionCause> RightToEvict::CauseFor(const Gang* of, int32_t priority) const {
  // Which of two gangs with quota goes is decided where quota is given (QuotaPass).
  if (!any_ || (gang_.quota && of && of->quota)) return std::nullopt;
  const bool has_queue = of && !of->charged_to.empty(),
             same_queue = has_queue && of->charged_to.front() == queue_;
  if (shares_decide_ && has_queue && !same_queue) return EvictionCause::kReclaim;
  if (!by_priority_ || priority >= priority_ || (within_queue_ && !same_queue)) return std::nullopt;
  if (!of || !HasRisenAbove(*of)) return EvictionCause::kPreempt;
  waits_for_time_ = true;
  return std::nullopt;
}

}  // namespace tutti::core
