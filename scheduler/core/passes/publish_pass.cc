// SPDX-License-Identifier: Apache-2.0
#include "core/passes/publish_pass.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "core/publish/explain.h"

namespace tutti::core {

using base::Millis;
using dialects::GangState;
using model::GangId;

namespace {

// Members come one after another; that some are still missing is news only when no more come.
constexpr Millis kMembersQuietMs = 1'000;
// A gang's own edits and arrivals change the reasons of all its members that wait. Each such write costs the gang so
// long. One that owes more than it costs to tell all its members, within these bounds, waits with what is new, but no
// longer than for the most of them.
constexpr Millis kRetellOneMs = 20, kRetellLeastMs = 1'000, kRetellMostMs = 30'000;

}  // namespace

void PublishPass::Run() {
  for (const GangId id : agenda_.TakeTouched())
    if (agenda_.Untouch(id)) {
      Gang& gang = book_.at(id);
      tallies_.Count(gang);
      journal_.Note(gang.key);
      PublishGang(id);
      enrollment_.SettleIfLone(id);
    }
  queue_status_.Publish();
}

bool PublishPass::TooEarly(GangId id, const Refusal& refusal) {
  const Gang& gang = book_.at(id);
  const Millis quiet_ms = gang.joined_ms + kMembersQuietMs;
  const bool of_members = refusal.state() == GangState::kWaitingForMembers || refusal.state() == GangState::kAdmitted;
  if (!of_members || gang.members.empty() || clock_.MonotonicMs() >= quiet_ms) return false;
  agenda_.At(id, quiet_ms, Agenda::Due::kTell);
  return true;
}

bool PublishPass::TellMembers(GangId id, const Refusal& of_gang) {
  Gang& gang = book_.at(id);
  const bool whole = gang.whole && gang.state != GangState::kInvalid, undoing = gang.plan && gang.plan->undoing();
  const Millis now = clock_.MonotonicMs(), all_ms = kRetellOneMs * std::ssize(gang.members);
  const Millis may_owe_ms = std::clamp(all_ms, kRetellLeastMs, kRetellMostMs);
  const Millis retell_from_ms = gang.note.retell_ms - may_owe_ms;
  std::tuple<const Refusal*, model::ClassId, std::string_view> said;
  std::string message;
  Millis cost_ms = 0;
  const bool has_turn = std::exchange(gang.note.takes_figures, false);  // which is paid for
  const bool may_renew = has_turn || figures_.writes().Any(now);
  bool owes = false;
  int64_t renewed = 0;
  const auto tell = [&](Member& member, const Refusal& refusal) {
    if (TooEarly(id, refusal)) return;
    const model::ClassId pod_class = book_.ClassOf(member);
    if (const std::tuple now_said(&refusal, pod_class, std::string_view(member.role)); said != now_said) {
      said = now_said;
      message = observe::SayTo({pod_class, member.role}, refusal.reason(), refusal.words());
    }
    const bool retold = !member.condition_note.message.empty() && !member.condition_note.in_doubt &&
                        member.condition_note.message != message && !undoing;
    if (retold && now < retell_from_ms) return agenda_.At(id, retell_from_ms, Agenda::Due::kTell);
    const MessageSource& source = member.condition_note.source;
    const bool in_figures = retold && source.reason &&
                            observe::SameButFigures(*source.reason, {source.pod_class, member.role}, refusal.reason(),
                                                    {pod_class, member.role});
    if (in_figures && !may_renew) {
      owes = true;
      return;
    }
    const bool quota = refusal.state() == GangState::kWaitingForQueue;
    if (pod_status_.TellWaiting(id, member, quota ? options_.quota_reason : "Unschedulable", message,
                                {refusal.shared_reason(), pod_class}) &&
        retold) {
      cost_ms += kRetellOneMs;
      renewed += in_figures;
    }
  };
  const std::shared_ptr<const Census> census = book_.CensusOf(gang);
  // A gate says of itself that the pod is held; where there is none the pod is told.
  for (const Members* waiting : {&census->pending, &census->held})
    for (Member* member : *waiting)
      if (const Refusal* why = whole ? member->refusal.get() : &of_gang; why && !member->promised) tell(*member, *why);
  // Before a gang is whole no bind leaves while it waits: a member that has a place held, such as for its volumes,
  // waits too.
  for (Member* member : census->reserved)
    if (!gang.whole && !member->promised && gang.plan->open.at(member->id).stage == Assignment::Stage::kReserved)
      tell(*member, of_gang);
  if (cost_ms > 0)
    gang.note.retell_ms = std::min(std::max(now, gang.note.retell_ms) + cost_ms, now + may_owe_ms + kRetellMostMs);
  figures_.writes().Spend(std::max<int64_t>(0, renewed - has_turn));
  if (owes && !std::exchange(gang.note.awaits_figures, true)) figures_.writes().Enqueue(id);
  return !owes;
}

void PublishPass::PublishGang(GangId id) {
  Gang& gang = book_.at(id);
  if (gang.refusal && gang.state != GangState::kWhole && TooEarly(id, *gang.refusal)) return;
  bool told = true;
  if (gang.refusal) {
    told = TellMembers(id, *gang.refusal);
    if (told && !TooEarly(id, *gang.refusal)) {
      const observe::Words& words = gang.refusal->words();
      if (gang.note.sentence != words.sentence && !words.sentence.empty() && !AwaitsPods(gang) && !AreGated(gang))
        gang_status_.TellGang(gang, true, "FailedScheduling", words.Full());
      gang.note.sentence = words.sentence;
      if (gang.state < GangState::kAdmitted && !AwaitsPods(gang)) announcer_.Happened(gang, Announcer::Step::kWaits);
    }
  } else {
    gang.note.sentence.clear();
    if (gang.plan && gang.plan->awaits_pods()) told = TellMembers(id, ExplainAwaitedPods(gang, book_));
  }
  // What is said of the gang has the figures that its members wait to be told.
  const bool later = !told && gang.note.reported && gang.note.reported->state == gang.state &&
                     gang.state < GangState::kAdmitted && !gang_status_.Owes(gang);
  if (const Millis at = GangStatus::ReportAt(gang); clock_.MonotonicMs() < at)
    agenda_.At(id, at, Agenda::Due::kTell);
  else if (!later)
    gang_status_.Report(id);
  for (const queue::QueueKey& queue : QueuesOf(gang)) queue_status_.MarkPath(queue);
  if (gang.lone) gang.census.reset();  // it costs nothing to take again, and there may be a great many
  CloseIfOver(id);
}

bool PublishPass::AreGated(Gang& gang) {
  if (gang.state != GangState::kWaitingForMembers) return false;
  const std::shared_ptr<const Census> census = book_.CensusOf(gang);
  return census->gated > 0 && census->held.empty() && census->pending.empty() && census->empty_handed();
}

void PublishPass::CloseIfOver(GangId id) {
  const Gang& gang = book_.at(id);
  if (!gang.members.empty() || gang_status_.Owes(gang) || clock_.MonotonicMs() < GangStatus::ReportAt(gang)) return;
  if (!book_.Keeps(*gang.dialect, gang.key)) enrollment_.Close(id);
}

}  // namespace tutti::core
