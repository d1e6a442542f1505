// SPDX-License-Identifier: Apache-2.0
#include "core/passes/enrollment.h"

#include <optional>
#include <utility>

#include "core/gangs/evidence.h"

namespace tutti::core {

using model::GangId;
using model::Pod;
using model::PodId;

void Enrollment::Rejoin(PodId pod) {
  if (state_.pod(pod).promised) return;  // its gang's declaration says of which it is
  std::optional<GangBook::Owner> owner = book_.OwnerOf(pod);
  const bool stays = book_.Stays(pod, owner);
  if (!stays && committer_.plans().OnItsWay(pod)) {
    moving_.insert(pod);
    return;
  }
  const GangId before = book_.GangOf(pod);
  if (before && !stays) LeaveAndClose(pod);
  const GangId after = book_.Join(pod, std::move(owner));
  if (after) {
    Gang& gang = book_.at(after);
    agenda_.OnJoined(after, state_.pod(pod).pod->spec->priority);
    if (gang.spec.quota && !gang.quota) quota_desk_.Note(after);
    charges_.Move(gang);
    charges_.Update(gang, book_.MemberOf(pod));
  }
  if (before == after) {
    if (after) agenda_.MarkReady(after);  // it may ask for another topology now
    return;
  }
  if (before && book_.at(before).dialect) {
    agenda_.MarkReady(before);
    agenda_.Touch(before);
  }
  if (!after) return;
  Gang& gang = book_.at(after);
  gang.joined_ms = clock_.MonotonicMs();
  if (gang.members.size() == 1) gang.selections = selections_;
  agenda_.MarkReady(after);
}

void Enrollment::RejoinMoving() {
  for (const PodId pod : std::exchange(moving_, {})) Rejoin(pod);
}

void Enrollment::NoteStranger(PodId id, const Pod* before) {
  const Pod& pod = *state_.pod(id).pod;
  if (before && before->done() == pod.done() && before->spec == pod.spec && SameMetadata(*before, pod)) return;
  std::optional<Strangers::Name> name;
  if (!pod.done())
    for (const auto& dialect : dialects_)
      if (const auto membership = dialect->MembershipOf(pod)) {
        if (!membership->lone) name = {membership->gang, pod.spec->scheduler_name, membership->head};
        break;
      }
  const std::optional<Strangers::Name> was = strangers_.Put(id, name);
  for (const auto& each : {was, name})
    if (const GangId gang = each ? book_.Find(each->gang) : GangId()) agenda_.MarkReady(gang);
}

void Enrollment::Drop(PodId id) {
  committer_.evictor().OnGone(id);
  if (const auto was = strangers_.Put(id, std::nullopt))
    if (const GangId gang = book_.Find(was->gang)) agenda_.MarkReady(gang);
  moving_.erase(id);
  const GangId in = book_.GangOf(id);
  if (in) {
    const Gang& gang = book_.at(in);
    for (const queue::QueueKey& queue : gang.charged_to) queue_status_.MarkPath(queue);
  }
  LeaveAndClose(id);
  if (in && book_.at(in).dialect) {
    Gang& gang = book_.at(in);
    if (gang.whole) gang.joined_ms = clock_.MonotonicMs();  // the pod that replaces it may be about to come
    agenda_.MarkReady(in);
    agenda_.Touch(in);
  }
  state_.DropPod(id);
}

void Enrollment::Leave(PodId pod) {
  const GangId id = book_.GangOf(pod);
  if (!id) return book_.Leave(pod);
  Gang& gang = book_.at(id);
  committer_.OnLeave(id, book_.MemberOf(pod));
  if (gang.members.size() == 1) {
    tallies_.Clear(gang);
    announcer_.Happened(gang, Announcer::Step::kGone);
  }
  book_.Leave(pod);
}

void Enrollment::LeaveAndClose(PodId pod) {
  const GangId id = book_.GangOf(pod);
  Leave(pod);
  if (!id) return;
  const Gang& gang = book_.at(id);
  if (gang.members.empty() && !gang.note.reported && !book_.Keeps(*gang.dialect, gang.key)) Close(id);
}

void Enrollment::AddPromise(GangId id, const model::PromisedMembers& as) {
  book_.AddPromise(id, as, state_.Promise(*as.pod));
  agenda_.OnJoined(id, as.pod->spec->priority);
}

void Enrollment::DropPromise(Member& member) {
  const PodId pod = member.pod;
  Leave(pod);
  state_.DropPod(pod);
}

void Enrollment::SettleIfLone(GangId id) {
  const Gang& gang = book_.at(id);
  if (!book_.IsSettled(gang)) return;
  const PodId pod = gang.members.front()->pod;
  const base::Millis since_ms = gang.since_ms;
  const dialects::Dialect& dialect = *gang.dialect;
  LeaveAndClose(pod);
  book_.RetireLonePod(pod, dialect, since_ms);
}

void Enrollment::Close(GangId id) {
  tallies_.Forget(book_.at(id));
  gang_status_.Drop(book_.at(id));
  queue_waits_.Forget(id);
  quota_desk_.Forget(id);
  sums_.Forget(id);
  auto_fits_.Forget(id);
  agenda_.Forget(id);
  book_.Close(id);
}

void Enrollment::Reselect(Gang& gang) {
  if (std::exchange(gang.selections, selections_) == selections_) return;
  for (const Member* member : gang.members) state_.Reselect(member->pod);
  state_.Reclassify();
}

}  // namespace tutti::core
