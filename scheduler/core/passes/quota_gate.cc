// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quota_gate.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "core/publish/explain.h"

namespace tutti::core {

using model::GangId;
using Stage = observe::AwaitsQuota::Stage;

namespace {

// Something may have ended what the refusal says.
bool MayBeOver(const Refusal& refusal) {
  if (refusal.figures_stale || (!refusal.certificate && refusal.certificates.empty())) return true;
  // Where another gang that waits by the same certificate was refused again, there are other figures.
  if (refusal.certificate && refusal.certificate->figures_id != refusal.figures_id) return true;
  return (refusal.certificate && refusal.certificate->broken()) ||
         std::ranges::any_of(refusal.certificates, [](const auto& certificate) { return certificate->broken(); });
}

// The gang's object says by now that it has to leave, or why. Until then the next leader would find that it has its
// quota, and let it start.
bool IsToldToLeave(const GangQuota& quota) {
  return !quota.terms || !quota.terms->has || quota.terms->has->evicted || !quota.terms->barred.empty();
}

}  // namespace

bool QuotaGate::Opens(GangId id, const Census& census) {
  Gang& gang = book_.at(id);
  if (!gang.spec.quota || !gang.quota) return !gang.spec.quota;
  if (gang.quota->leaves() && !ReleaseIfStopped(id)) {
    Wait(id, Stage::kLeaves, gang.quota->report.evicted_message);
    return false;
  }
  if (!gang.quota->has()) {
    StandInLine(id, census);
    return false;
  }
  if (gang.quota->seeks_nodes()) return true;
  if (gang.quota->fit == model::Fit::kNodes) {
    Wait(id, Stage::kChecks, {});
    return false;
  }
  if (!gang.members.empty()) return true;
  book_.SetState(gang, GangState::kAdmitted);
  return false;
}

void QuotaGate::HoldBack(GangId id, Census* census) {
  const Gang& gang = book_.at(id);
  if (!gang.whole || !gang.quota || !gang.quota->has() || !gang.quota->terms) return;
  std::map<std::string_view, int64_t> free;
  const model::HeldQuota has = WithoutDone(*gang.quota->report.has, gang.quota->terms->done);
  for (const model::HeldQuota::Role& role : has.roles) free[role.name] = role.count;
  // A submitter needs no quota; a role that nothing declares has none.
  for (const model::PromisedMembers& declared : gang.quota->declared.promised)
    free.try_emplace(declared.role, declared.count);
  for (const Members* there : {&census->placed, &census->reserved, &census->later})
    for (const Member* member : *there)
      if (const auto role = free.find(member->role); role != free.end()) --role->second;
  const auto beyond = std::ranges::stable_partition(census->pending, [&](const Member* member) {
    const auto role = free.find(member->role);
    return role != free.end() && role->second-- > 0;
  });
  census->beyond.assign(beyond.begin(), beyond.end());
  census->pending.erase(beyond.begin(), beyond.end());
  census->beyond.insert(census->beyond.end(), census->held.begin(), census->held.end());
  if (census->beyond.empty()) return;
  const Stage stage = gang.quota->terms->awaits_checks ? Stage::kChecks : Stage::kLine;
  Requirement requirement;
  requirement.min = std::ssize(census->beyond);
  requirement.standing = std::make_shared<const observe::Standing>(StandingOf(Require(gang, *census)));
  bool retry = false;
  std::shared_ptr<const Refusal> refusal;
  for (Member* member : census->beyond) {
    const bool over = !member->refusal || MayBeOver(*member->refusal);
    if (desk_.LacksNodes(id) && !over) continue;
    retry = true;
    if (!refusal)
      refusal = std::make_shared<const Refusal>(
          ExplainQuota(gang, {stage, desk_.QueueName(gang), gang.quota->report.more_message}, requirement));
    member->refusal = refusal;
  }
  if (retry && desk_.LacksNodes(id)) desk_.Retry(id);
}

void QuotaGate::StandInLine(GangId id, const Census& census) {
  Gang& gang = book_.at(id);
  // Pods that run without quota are left alone.
  if (gang.whole || (census.holds_nodes() && !committer_.Abort(id))) return;
  if (gang.quota->replaced) return book_.SetState(gang, GangState::kFinished);
  const base::Millis not_before_ms = gang.quota->terms->not_before_ms, now = clock_.WallMs();
  if (not_before_ms > now) agenda_.At(id, clock_.MonotonicMs() + not_before_ms - now);
  desk_.LineUpIfDue(id);
  if (!desk_.LacksNodes(id)) return Wait(id, Stage::kLine, desk_.WhyItWaits(id));
  if (!gang.refusal || MayBeOver(*gang.refusal)) desk_.Retry(id);
}

void QuotaGate::Wait(GangId id, Stage stage, const std::string& why) {
  refusals_.Wait(id, ExplainQuota(book_.at(id), {stage, desk_.QueueName(book_.at(id)), why}));
}

bool QuotaGate::HasStopped(const Gang& gang) const {
  if (gang.quota->terms && gang.quota->terms->released) return false;
  return std::ranges::all_of(gang.members, [this](const Member* member) {
    const model::Pod& pod = *book_.PodOf(member->id);
    const bool waits = member->held_back || !pod.scheduling_gates.empty();
    return member->promised || pod.done() || (!pod.bound() && (waits || pod.meta.deleting()));
  });
}

bool QuotaGate::ReleaseIfStopped(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.quota || !gang.quota->leaves() || !IsToldToLeave(*gang.quota) || !HasStopped(gang)) return false;
  if (gang.plan && !committer_.Abort(id)) committer_.plans().End(id);
  announcer_.Quota(gang, observe::Observer::QuotaStep::Kind::kReleased, desk_.QueueName(gang));
  Plans::ForgetWhole(gang);
  book_.EndRefusal(gang);
  desk_.Release(id);
  return true;
}

void QuotaGate::TellIfAdmitted(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.quota || gang.quota->admission_told || !IsAdmitted(gang)) return;
  desk_.SetAdmissionTold(id);
  announcer_.Quota(gang, observe::Observer::QuotaStep::Kind::kAdmitted, desk_.QueueName(gang));
}

void QuotaGate::TellIfReady(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.quota || !gang.quota->terms || !gang.quota->has()) return;
  const bool ready = gang.quota->terms->ready_ms > 0;
  if (!std::exchange(gang.quota->ready_told, ready) && ready) announcer_.Ready(gang, desk_.QueueName(gang));
}

void QuotaGate::TellEvicted(GangId id, GangId by) {
  const Gang& gang = book_.at(id);
  const Gang* taker = by.valid() ? &book_.at(by) : nullptr;
  announcer_.Quota(gang, observe::Observer::QuotaStep::Kind::kEvicted, desk_.QueueName(gang),
                   gang.quota->report.evicted_reason, taker, taker ? desk_.QueueName(*taker) : std::string());
}

void QuotaGate::Follow(GangId id) {
  Gang& gang = book_.at(id);
  if (!gang.quota || !gang.spec.quota || gang.quota->is_trial) return;
  desk_.FollowSize(id);
  if (!gang.quota->seeks_nodes()) return;
  GangQuota& quota = *gang.quota;
  if (!gang.refusal || gang.state >= GangState::kAdmitted) {
    if (quota.placed || (!gang.plan && !gang.whole)) return;
    desk_.SetPlaced(id, true);
    return TellIfAdmitted(id);
  }
  // Quota without nodes keeps it from others. But a job that may make pods, or has some, is not told to stop for that.
  if (gang.state != GangState::kWaitingForNodes || !HasStopped(gang)) return;
  desk_.Evict(id, std::string(queue::kNodeFailures), gang.refusal->words().sentence);
  TellEvicted(id);
  ReleaseIfStopped(id);
  agenda_.MarkReady(id);
}

}  // namespace tutti::core
