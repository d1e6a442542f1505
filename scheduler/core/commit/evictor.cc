// SPDX-License-Identifier: Apache-2.0
#include "core/commit/evictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/json_string.h"
#include "core/gangs/evidence.h"

namespace tutti::core {

using base::Millis;
using cluster::Lane;
using model::GangId;
using model::Pod;
using model::PodId;
using Cause = Eviction::Cause;

namespace {

constexpr Millis kRepeatEvictionMs = 500, kEvictDeadlineMs = 30'000, kEventDeadlineMs = 300'000;

base::Json Announcement(const Pod& pod, const std::string& reason, const std::string& message, Millis wall_ms) {
  base::Json condition = {{"type", model::kDisruptionTarget},
                          {"status", "True"},
                          {"reason", reason},
                          {"message", message},
                          {"lastTransitionTime", base::FormatTime(wall_ms)}};
  if (pod.meta.generation > 0) condition["observedGeneration"] = pod.meta.generation;
  return {{"metadata", {{"uid", pod.meta.uid}}}, {"status", {{"conditions", {std::move(condition)}}}}};
}

}  // namespace

void Evictor::StartTerm() {
  outbox_.Forget(Outbox::For::kEviction);
  for (const auto& [id, going] : std::exchange(going_, {})) state_.SetLeaving(id, false);
}

std::optional<std::string> Evictor::WhyKept(const Pod& pod) const {
  const model::OwnerReference* controller = pod.meta.Controller();
  if (!controller) return "no controller would recreate it";
  if (controller->kind == "Job") return fmt::format("its Job \"{}\" would count a failure", controller->name);
  if (pod.bound() && state_.NodeExists(pod.node_name) && !ReadEvidence(pod)) return "another scheduler bound it";
  return std::nullopt;
}

// Upstream's words, but that it says `cluster` for the node where a group preempts.
Evictor::Said Evictor::Say(const Pod& pod, const Eviction& eviction) const {
  if (eviction.cause == Cause::kUndo) return {std::string(model::kUndoReason), eviction.why, {}};
  const Gang& by = book_.at(eviction.by);
  const std::string_view what = by.lone ? "pod" : "podgroup";
  const std::string who = by.lone && !by.members.empty() ? book_.PodOf(by.members.front()->id)->meta.uid
                          : by.spec.uid.empty()          ? fmt::format("{}/{}", by.key.ns, by.key.name)
                                                         : by.spec.uid;
  Said said{.reason = std::string(model::kPreemptionReason), .message = {}, .note = {}};
  said.message = eviction.cause == Cause::kPreempt
                     ? fmt::format("{}: preempting to accommodate a higher priority {}", book_.SchedulerName(by), what)
                     : fmt::format("{}: preempting to reclaim what its queue has lent", book_.SchedulerName(by));
  said.note = fmt::format("Preempted by {} {} on node {}", what, who, pod.node_name);
  return said;
}

std::vector<cluster::EmitEvent> Evictor::EventsOf(PodId id, const Eviction& eviction, const std::string& note) const {
  std::vector<cluster::EmitEvent> events;
  if (note.empty()) return events;
  const cluster::ObjectRef pod = cluster::RefOf(state_.pod(id).pod);
  const std::string by(book_.SchedulerName(book_.at(eviction.by)));
  if (const GangId gang = book_.GangOf(id)) {
    const Gang& of = book_.at(gang);
    const bool for_share = eviction.cause == Cause::kReclaim;
    const auto notes =
        of.dialect->NotesOfEviction(for_share ? dialects::EvictedFor::kShare : dialects::EvictedFor::kPriority);
    if (notes) events.push_back({pod, true, notes->reason, notes->reason, notes->of_pod, by});
    if (const auto target = of.dialect->EventTarget(of.key); notes && target)
      events.push_back({*target, false, notes->reason, notes->reason, notes->of_gang, by});
  }
  events.push_back({pod, false, "Preempted", "Preempting", note, by});
  return events;
}

void Evictor::PostEvents(Going& going) {
  for (cluster::EmitEvent& event : std::exchange(going.events, {}))
    outbox_.Post(Lane::kEvent, clock_.MonotonicMs() + kEventDeadlineMs, std::move(event));
}

template <typename Body>
void Evictor::Send(PodId id, bool announced, Body body) {
  // One that was begun is finished before others begin: so room comes pod by pod, and not all of it at the end.
  const Lane lane = announced ? Lane::kFinish : Lane::kEvict;
  outbox_.Send(Outbox::For::kEviction, lane, clock_.MonotonicMs() + kEvictDeadlineMs, std::move(body),
               [this, id, pod = state_.pod(id).pod, announced](const cluster::CommandReply& reply) {
                 OnReply(id, *pod, announced, reply);
               });
}

void Evictor::Evict(PodId id, const Eviction& eviction) {
  Going& going = going_[id];
  if (std::ranges::find(going.by, eviction.by) == going.by.end()) going.by.push_back(eviction.by);
  const cluster::PodEntry& entry = state_.pod(id);
  const std::shared_ptr<const Pod>& pod = entry.pod;
  if (entry.leaving || pod->meta.deleting() || pod->done()) return;
  if (clock_.MonotonicMs() < going.again_ms) return agenda_.At(eviction.by, going.again_ms);
  state_.SetLeaving(id, true);
  const Said said = Say(*pod, eviction);
  going.events = EventsOf(id, eviction, said.note);
  going.deletes = false;
  Send(id, false,
       cluster::Patch{cluster::RefOf(pod), true, cluster::Patch::Type::kStrategic,
                      base::PrintJson(Announcement(*pod, said.reason, said.message, clock_.WallMs()))});
  if (eviction.cause == Cause::kUndo) return announcer_.Evicted(id, said.message);
  const model::GangKey& by = book_.at(eviction.by).key;
  announcer_.Evicted(id, fmt::format("{} ({}/{})", said.message, by.ns, by.name));
}

bool Evictor::EvictUnlessKept(Member& member, const std::string& why) {
  const cluster::PodEntry& entry = state_.pod(member.pod);
  if (const auto kept = entry.leaving ? std::nullopt : WhyKept(*entry.pod)) {
    member.why_kept = fmt::format("{}, but this pod is kept: {}", why, *kept);
    return false;
  }
  Evict(member.pod, {Cause::kUndo, member.gang, why});
  return true;
}

bool Evictor::Keeps(const Member& member) const {
  const cluster::PodEntry& entry = state_.pod(member.pod);
  return !entry.leaving && WhyKept(*entry.pod).has_value();
}

bool Evictor::EvictLost(Member& member) { return EvictUnlessKept(member, "the node it was bound to does not exist"); }

void Evictor::OnEnded(PodId id) {
  const auto going = going_.find(id);
  if (going == going_.end()) return;
  for (const GangId by : going->second.by)
    if (book_.at(by).dialect) agenda_.MarkReady(by);
}

void Evictor::OnGone(PodId id) {
  const auto going = going_.find(id);
  if (going == going_.end()) return;
  OnEnded(id);
  if (going->second.deletes) PostEvents(going->second);  // it is gone before the reply says so
  going_.erase(going);
}

void Evictor::OnReply(PodId id, const Pod& as, bool announced, const cluster::CommandReply& reply) {
  const std::shared_ptr<const Pod>& pod = state_.pod(id).pod;
  const auto at = going_.find(id);
  if (!pod || pod->meta.uid != as.meta.uid || at == going_.end()) return;
  Going& going = at->second;
  if (reply.outcome != cluster::Outcome::kDone) {  // without the condition it is not deleted
    state_.SetLeaving(id, false);
    going.again_ms = clock_.MonotonicMs() + reply.PauseMs(kRepeatEvictionMs);
    for (const GangId by : going.by)
      if (book_.at(by).dialect) agenda_.At(by, going.again_ms);
    if (const GangId gang = book_.GangOf(id)) plans_.ConfirmIfWhole(gang);
  } else if (pod->done()) {  // meanwhile; it holds nothing any more, and what it has left behind is its owner's
    state_.SetLeaving(id, false);
  } else if (!announced) {
    going.deletes = true;
    Send(id, true, cluster::Delete{cluster::RefOf(pod)});
  } else {
    PostEvents(going);
  }
}

}  // namespace tutti::core
