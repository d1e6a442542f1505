// SPDX-License-Identifier: Apache-2.0
#include "core/passes/consider.h"

#include <algorithm>
#include <string>

#include "base/planted.h"
#include "core/gangs/evidence.h"
#include "core/gangs/fit.h"
#include "core/gangs/topology.h"
#include "core/publish/explain.h"

namespace tutti::core {

using base::Millis;
using dialects::GangState;
using model::GangId;

bool Consideration::StaysRefused(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.line.only_woken || gang.plan || !gang.refusal || !gang.refusal->certificate) return false;
  Certificate& certificate = CertificateOf(*gang.refusal->certificate);
  const Millis now = clock_.MonotonicMs();
  const bool holds = certificates_.StillHolds(certificate);
  if (WasCutOff(*gang.refusal) &&
      (!holds || (gang.refusal->figures_stale && certificate.made_ms < figures_.From(gang))))
    return !agenda_.retries().Take(id, certificate.made_ms, now);
  agenda_.retries().Leave(id);
  const bool newer = certificate.made_ms >= gang.refusal->figures_ms + figures_.MaxAgeMs() / 2;
  if (!holds || gang.refusal->figures_stale || newer) return false;
  // A node that refused a bind may do again.
  for (const Member* member : gang.members)
    if (member->refused)
      for (const auto& [node, until_ms] : member->refused->nodes)
        if (until_ms <= now) return false;
  if (!gang.spec.queue.empty()) {
    const std::shared_ptr<const Census> census = book_.CensusOf(gang);
    if (!admission_.ToStart(gang, *census, Require(gang, *census)).admitted()) return false;
  }
  agenda_.Regroup(id);
  return true;
}

void Consideration::ForgiveNodes(Gang& gang) const {
  const Millis now = clock_.MonotonicMs();
  for (Member* member : gang.members)
    if (member->refused) std::erase_if(member->refused->nodes, [now](const auto& item) { return item.second <= now; });
}

void Consideration::FollowSums(GangId id) {
  const Gang& gang = book_.at(id);
  auto_fits_.Follow(id, gang.spec);
  if (gang.quota) return sums_.Follow(id, gang, gang.quota->has() && gang.quota->fit != model::Fit::kNodes);
  const bool admitted = gang.state == GangState::kAdmitted || !gang.members.empty();
  sums_.Follow(id, gang, admitted && auto_fits_.IsAdmittedUnplaced(gang, state_.snapshot()));
}

void Consideration::Run(GangId id) {
  agenda_.retries().Leave(id);
  Gang& gang = book_.at(id);
  promises_.Follow(id);
  FollowSums(id);
  enrollment_.Reselect(gang);
  ForgiveNodes(gang);
  Census census = *book_.CensusOf(gang);
  if (gang.plan && gang.plan->undoing()) return undo_.Continue(id, census);
  if (IsOver(id, census)) return;
  committer_.victims().Recall(id, census);
  const std::string problem = gang.spec.problem.empty() ? TopologyProblem(gang) : gang.spec.problem;
  // Of a whole gang no more members are placed; one that has a place held is bound.
  if (!problem.empty() && (!gang.plan || gang.whole || committer_.Abort(id))) {
    SpareVictims(id);
    return refusals_.Wait(id, ExplainProblem(gang, problem));
  }
  if (!quota_.Opens(id, census)) return SpareVictims(id);
  if (!gang.whole && !gang.plan && !census.empty_handed()) Recall(id, census);
  committer_.plans().ConfirmIfWhole(id);  // it may ask for less than it did
  // Where the only members that were bound have run, the rest starts as any gang does, as after a restart.
  if (gang.whole && !census.holds_nodes() && (census.ran.empty() || !Require(gang, census).met())) {
    Plans::ForgetWhole(gang);
    gang.soft = false;
    gang.complete_since_ms = 0;
    promises_.Follow(id);  // its members are promised again
    census = *book_.CensusOf(gang);
  }
  if (!gang.whole) agenda_.StandInFront(id);
  if (!gang.plan && census.empty_handed() && IsTerminating(gang, census, state_))
    return book_.SetState(gang, GangState::kTerminating);
  // No member comes to a gang that is leaving, or giving a part away: it would come to what is left of it.
  if (gang.whole && std::ranges::any_of(census.placed, [this](const Member* member) {
        return state_.pod(member->pod).victim_of.valid();
      }))
    return grow_.Restate(id, census);
  quota_.HoldBack(id, &census);
  if (gang.whole)
    grow_.Run(id, census);
  else
    start_.Run(id, census);
  quota_.Follow(id);
}

void Consideration::SpareVictims(GangId id) {
  if (const Gang& gang = book_.at(id); gang.preemption && !gang.plan) committer_.victims().GiveUp(id);
}

bool Consideration::IsOver(GangId id, Census& census) {
  Gang& gang = book_.at(id);
  if (gang.plan && gang.whole) {
    bool leaving = false;  // the delete may have to be asked for again
    for (Member* member : census.lost)
      if (committer_.plans().IsOfPlan(*member, gang)) leaving = undo_.EvictLost(*member) || leaving;
    if (gang.plan->open.empty() && !leaving) committer_.plans().End(id);
  }
  if (HasEnded(gang, census)) {
    if (gang.plan && gang.plan->open.empty()) committer_.plans().End(id);  // nothing is left of it for later members
    quota_.ReleaseIfStopped(id);
    book_.SetState(gang, GangState::kFinished);
    return true;
  }
  if (gang.members.empty() && !book_.Keeps(*gang.dialect, gang.key)) {  // it is here until that has been said
    book_.SetState(gang, GangState::kWaitingForMembers);
    return true;
  }
  return false;
}

void Consideration::Recall(GangId id, Census& census) {
  Gang& gang = book_.at(id);
  const Finding finding = Examine(gang, census, state_);
  gang.restarts = std::max(gang.restarts, finding.restarts);
  const auto recall = [&](bool whole, bool proven) {
    Plans::RecallWhole(gang, whole, proven);
    if (gang.quota) census = *book_.CensusOf(gang);  // more members count of one that is whole
  };
  if (finding.whole && !base::Planted(base::Bug::kUndoWhole)) return recall(true, finding.proven);
  if (!census.holds_nodes()) return recall(Require(gang, census).met(), true);  // there is nothing to undo
  if (undo_.KeepsAll(gang, census)) return recall(true, true);
  const bool first = !std::exchange(gang.resumed, true);  // later it was planned here, and nothing of it is on its way
  committer_.Resume(id, finding.half_done.plan, finding.half_done.commit_uid, first);
  // A word on the members that cannot be bound at once, whatever they say already: a late bind by the leader that
  // planned this then finds another resourceVersion than it asks for.
  if (first && !base::Planted(base::Bug::kDropFence))
    for (Member* member : census.pending) PodStatus::Distrust(*member);
  if (std::ranges::any_of(census.placed, [this](const Member* m) { return state_.pod(m->pod).pod->undo_begun; }))
    gang.plan->deadline_ms = clock_.MonotonicMs();  // that leader was undoing it: the undoing is finished
  agenda_.At(id, gang.plan->deadline_ms);
  census = *book_.CensusOf(gang);  // it knows now which member is to be the last
}

}  // namespace tutti::core
