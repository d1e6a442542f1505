// SPDX-License-Identifier: Apache-2.0
#include "core/passes/victim_seeker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::core {

using model::GangId;
using model::PodId;

namespace {

// Victims are sought again so long after it could not be found out whether there are any.
constexpr base::Millis kSeekAgainMs = 5'000;

}  // namespace

std::string KeyOf(GangId id, const std::string& shape) { return shape.empty() ? fmt::format("#{}", id.value) : shape; }

void VictimSeeker::SeekAgain(GangId id) {
  if (MayPreempt(book_.at(id))) agenda_.At(id, clock_.MonotonicMs() + kSeekAgainMs);
}

// Not if one of its members says that no pod is to be evicted for it, nor if its profile says so of all.
bool VictimSeeker::MayPreempt(const Gang& gang) const {
  if (options_.gang_preemption == Options::GangPreemption::kNever) return false;
  const framework::Profile* profile = framework::FindProfile(options_.profiles, book_.SchedulerName(gang));
  return profile && profile->preemption && std::ranges::none_of(gang.members, [this](const Member* member) {
           return state_.pod(member->pod).pod->spec->never_preempts;
         });
}

std::vector<Victim> VictimSeeker::ChooseAsTold(const Gang& gang) const {
  std::vector<Victim> victims = options_.choose_victims(gang, state_);
  const bool may_go =
      std::ranges::all_of(victims, [&](const Victim& victim) { return committer_.victims().MayGo(gang, victim.pod); });
  return may_go ? victims : std::vector<Victim>();
}

std::vector<Victim> VictimSeeker::Choose(GangId id, const Census& census, const Requirement& requirement,
                                         const std::string& shape, PlanResult* result) {
  const Gang& gang = book_.at(id);
  if (options_.choose_victims) return ChooseAsTold(gang);
  if (gang.lone || !MayPreempt(gang)) return {};
  const int32_t priority = book_.Priority(gang);
  const std::string key = KeyOf(id, shape);
  if (refusals_.Holds(key, priority)) return {};
  VictimAnswer answer =
      search_.Run(id, census.pending, requirement, [&](PodId pod) { return committer_.victims().MayGo(gang, pod); });
  std::vector<Victim> victims;
  if (!answer.fits) {
    if (answer.proven)
      refusals_.Keep(key, priority, id);
    else
      SeekAgain(id);
    return victims;
  }
  for (const VictimUnit& unit : answer.victims)
    for (const PodId pod : unit.pods) victims.push_back({pod, EvictionCause::kPreempt, {}});
  result->fits = true;
  result->placements = std::move(answer.placements);
  return victims;
}

}  // namespace tutti::core
