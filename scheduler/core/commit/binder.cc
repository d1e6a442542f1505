// SPDX-License-Identifier: Apache-2.0
#include "core/commit/binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/gangs/evidence.h"

namespace tutti::core {

using base::Millis;
using cluster::Lane;
using cluster::Outcome;
using model::GangId;
using model::MemberId;
using model::Pod;
using Stage = Assignment::Stage;

namespace {

constexpr Millis kRepeatBindMs = 500, kLongestRepeatMs = 10'000;
// Since a plan began: by then it is undone though the API server asked for patience all the time.
constexpr Millis kLongestPatienceMs = 600'000;
// After so many refused binds in a row the pod itself is at fault: it backs off, instead of trying another node.
constexpr int kRefusedAtOnce = 3;

// Returns the pause, doubled so many times, and `most` at most.
Millis Doubled(Millis pause, int times, Millis most) {
  for (int i = 0; i < times && pause < most; ++i) pause *= 2;
  return std::min(pause, most);
}

}  // namespace

void Binder::StartTerm() {
  outbox_.Forget(Outbox::For::kBind);
  book_.ForEach([this](GangId, Gang& gang) {
    for (Member* member : gang.members) member->gone_unobserved = false;
    gang.census.reset();
    if (!gang.plan) return;
    for (auto& [member, assignment] : gang.plan->open)
      if (assignment.stage == Stage::kSent) Doubt(gang, member, assignment);
  });
}

void Binder::Doubt(Gang& gang, MemberId member, Assignment& assignment) {
  assignment.stage = Stage::kDoubt;
  gang.plan->may_have_bound = true;
  if (!gang.whole && book_.PodOf(member)->meta.uid == gang.plan->commit_uid)
    gang.plan->in_doubt[member] = assignment.sent_resource_version;
}

void Binder::Repeat(GangId id, Assignment& assignment, const cluster::CommandReply& reply) {
  if (reply.http_status != 0 && reply.server_unavailable()) ++assignment.failures;
  const Millis pause_ms = Doubled(kRepeatBindMs, assignment.failures - 1, kLongestRepeatMs);
  assignment.not_before_ms = clock_.MonotonicMs() + reply.PauseMs(pause_ms);
  agenda_.At(id, assignment.not_before_ms);
  Gang& gang = book_.at(id);
  if (reply.retry_after_ms == 0 || gang.whole || gang.plan->undoing()) return;
  // The server is busy, and says for how long. That is not the gang's fault: it has all its time again then.
  const Millis before = gang.plan->deadline_ms;
  plans_.RestartDeadline(gang);
  const Millis again =
      std::min(gang.plan->deadline_ms + reply.retry_after_ms, gang.plan->begun_ms + kLongestPatienceMs);
  gang.plan->deadline_ms = std::max(before, again);
  agenda_.Cancel(id, before);
  agenda_.At(id, gang.plan->deadline_ms);
}

void Binder::SendWhenDue(GangId id, MemberId member, Assignment& assignment) {
  if (assignment.not_before_ms <= clock_.MonotonicMs())
    Send(id, member, assignment);
  else
    agenda_.At(id, assignment.not_before_ms);
}

void Binder::Send(GangId id, MemberId slot, Assignment& assignment) {
  Gang& gang = book_.at(id);
  Plan& plan = *gang.plan;
  const cluster::PodEntry& entry = state_.pod(book_.at(slot).pod);
  const std::shared_ptr<const Pod>& pod = entry.pod;
  plan.bind_left = true;
  // A member that fills up a whole gang is no part of what made it whole: it names itself.
  const std::string& commit_uid = gang.whole ? pod->meta.uid : plan.commit_uid;
  cluster::Bind bind{cluster::RefOf(pod), assignment.node, {}};
  // One in doubt is repeated as it was: it finds out what came of it, and binds no pod that has changed since, such as
  // to another gang.
  if (assignment.stage != Stage::kDoubt) assignment.sent_resource_version = pod->meta.resource_version;
  bind.pod.resource_version = assignment.sent_resource_version;
  bind.annotations.emplace_back(kBindAnnotation,
                                WriteEvidence(plan.id, pod->meta.uid, assignment.node, commit_uid, gang.restarts));
  assignment.stage = Stage::kSent;
  assignment.outdated = false;
  // Others have left for this pod, so its bind does not wait behind evictions that have not begun.
  const bool takes_their_place = gang.lone && state_.nominations().NodeOf(book_.at(slot).pod) == assignment.node;
  const bool last_of_many = !gang.whole && gang.members.size() > 1 && pod->meta.uid == commit_uid;
  const Millis deadline_ms = clock_.MonotonicMs() + options_.bind_timeout_ms;
  auto on_reply = [this, id, slot, pod](const cluster::CommandReply& reply) { OnReply(id, slot, *pod, reply); };
  if (const auto extender = extender_desk_.BinderOf(*entry.pod_class->spec)) {
    extender_desk_.extenders()->Bind(*extender, outbox_.Expect(Outbox::For::kBind, std::move(on_reply)), deadline_ms,
                                     bind);
  } else {
    const Lane lane = last_of_many ? Lane::kCommit : takes_their_place ? Lane::kFinish : Lane::kBind;
    outbox_.Send(Outbox::For::kBind, lane, deadline_ms, std::move(bind), std::move(on_reply));
  }
}

void Binder::OnReply(GangId id, MemberId slot, const Pod& as, const cluster::CommandReply& reply) {
  Gang& gang = book_.at(id);
  Member* member = book_.Find(id, slot);
  if (!member || book_.PodOf(slot)->meta.uid != as.meta.uid) {
    // The pod went before the reply came, and perhaps before it was seen bound; its gang was whole all the same.
    if (reply.outcome == Outcome::kDone && gang.plan && gang.plan->commit_uid == as.meta.uid) {
      plans_.MakeWhole(gang);
      agenda_.MarkReady(id);
    }
    return;
  }
  const bool as_planned = Judge(id, *member, reply);
  if (!as_planned || !Plans::Flows(gang)) agenda_.MarkReady(id);
}

bool Binder::Judge(GangId id, Member& member, const cluster::CommandReply& reply) {
  Gang& gang = book_.at(id);
  if (!gang.plan) return false;
  const auto open = gang.plan->open.find(member.id);
  if (open == gang.plan->open.end()) return reply.outcome == Outcome::kDone;  // it was seen bound, or went, before
  Assignment& assignment = open->second;
  const Pod& pod = *book_.PodOf(member.id);

  // Bound where it was planned: by our own bind, whose reply was lost, or by another scheduler, whose plan is nothing
  // to us. It has the room that is held for it either way. After a restart it may bear another's evidence, or none:
  // that the commit member is bound says then that the gang was whole, whichever scheduler bound it (Examine).
  if (reply.outcome == Outcome::kDone || (!reply.current_node.empty() && reply.current_node == assignment.node)) {
    assignment.stage = Stage::kBound;
    gang.census.reset();
    member.refused.reset();
    const bool as_planned = !assignment.room_lost;
    OnSeenBound(gang, member, assignment.node);
    plans_.ConfirmIfWhole(id);
    return as_planned;
  }
  if (reply.outcome == Outcome::kUnknown) {
    Doubt(gang, member.id, assignment);
    Repeat(id, assignment, reply);
  } else if (reply.gone || !reply.current_node.empty()) {
    plans_.Release(gang, member);
    member.gone_unobserved = true;
    gang.census.reset();
  } else if (assignment.room_lost || pod.done() || pod.meta.deleting()) {
    plans_.Release(gang, member);
  } else if (reply.http_status == 409) {
    assignment.stage = Stage::kReserved;  // the pod changed since; its event brings the new resourceVersion
    assignment.outdated = true;
    assignment.not_before_ms = clock_.MonotonicMs();
    if (pod.meta.resource_version == assignment.sent_resource_version) Repeat(id, assignment, reply);
  } else if (reply.server_unavailable()) {
    OnFailure(gang, member, assignment, reply);
  } else {
    Refuse(gang, member, fmt::format("binding to node \"{}\" was refused: {}", assignment.node, reply.message));
    member.refused->bind = true;
  }
  return false;
}

void Binder::OnFailure(Gang& gang, Member& member, Assignment& assignment, const cluster::CommandReply& reply) {
  const std::string why = fmt::format("binding to node \"{}\" failed: {}", assignment.node, reply.message);
  assignment.stage = Stage::kReserved;
  Repeat(member.gang, assignment, reply);
  const bool again = assignment.failures < kRefusedAtOnce && !(member.refused && member.refused->bind);
  if (reply.http_status < 500 || again) {  // what never reached the API server, or is too much for it, may do later
    if (reply.http_status != 0) pod_status_.TellWaiting(member.gang, member, "SchedulerError", why);
    return;
  }
  // Another node would not help.
  if (!member.refused) member.refused.emplace();
  member.refused->times = std::max(member.refused->times, kRefusedAtOnce - 1);
  Refuse(gang, member, why);
  member.refused->bind = true;
  member.refused->again_ms = std::max(member.refused->again_ms, clock_.MonotonicMs() + reply.retry_after_ms);
}

void Binder::OnSeenBound(const Gang& gang, const Member& member, const std::string& node) {
  pod_status_.TellBound(member, node);
  announcer_.Bound(gang, member, node);
}

void Binder::Refuse(Gang& gang, Member& member, const std::string& message) {
  const Millis now = clock_.MonotonicMs();
  const GangId id = member.gang;
  Plan& plan = *gang.plan;
  RefusedBinds& refused = member.refused ? *member.refused : member.refused.emplace();
  const Millis backoff = Doubled(options_.pod_initial_backoff_ms, refused.times, options_.pod_max_backoff_ms);
  refused.nodes[plan.open.at(member.id).node] = now + backoff;
  refused.why = message;
  if (++refused.times >= kRefusedAtOnce) refused.again_ms = now + backoff;
  agenda_.At(id, now + backoff);
  plans_.Release(gang, member);
  const bool others_left =
      std::ranges::any_of(plan.open, [](const auto& item) { return item.second.stage != Stage::kReserved; });
  if (!others_left && !plan.may_have_bound && book_.CensusOf(gang)->NobodyBound()) plan.bind_left = false;
  pod_status_.TellWaiting(id, member, "SchedulerError", message);
}

}  // namespace tutti::core
