// SPDX-License-Identifier: Apache-2.0
#include "core/publish/pod_status.h"

#include <string>
#include <utility>

#include "base/json_string.h"

namespace tutti::core {

using cluster::Lane;
using model::GangId;
using model::Pod;

namespace {

constexpr base::Millis kStatusDeadlineMs = 60'000;
constexpr base::Millis kEventDeadlineMs = 300'000;
constexpr base::Millis kTellAgainMs = 5'000;
constexpr base::Millis kUnseenMs = 60'000;  // a watch that is silent is begun again before
constexpr int kConflict = 409;

// By hand: it is written for every waiting pod. A message may quote what a user wrote. Only of the resourceVersion
// `only_of`: a pod that was bound meanwhile, by a write that overtook this one, would say without end that it waits.
// `node`: that is kept for it from now on; empty: none.
std::string WaitingPatch(const std::string& reason, const std::string& message, const model::ObjectMeta& only_of,
                         const std::string& probed, const std::string& turned, const std::optional<std::string>& node) {
  std::string body = "{";
  const auto field = [&body](std::string_view name, std::string_view value, std::string_view end = ",") {
    body.append(name);
    base::AppendQuoted(value, &body);
    body += end;
  };
  field(R"("metadata":{"resourceVersion":)", only_of.resource_version, "},");
  body += R"("status":{)";
  if (node && node->empty()) body += R"("nominatedNodeName":null,)";
  if (node && !node->empty()) field(R"("nominatedNodeName":)", *node);
  body += R"("conditions":[{)";
  if (!probed.empty()) field(R"("lastProbeTime":)", probed);
  if (!turned.empty()) field(R"("lastTransitionTime":)", turned);
  field(R"("message":)", message);
  if (only_of.generation > 0) body.append(R"("observedGeneration":)").append(std::to_string(only_of.generation)) += ',';
  field(R"("reason":)", reason);
  return body += R"("status":"False","type":"PodScheduled"}]}})";
}

// Whatever generation of the pod that was said of.
bool Says(const Pod& pod, const std::string& reason, const std::string& message) {
  const model::ScheduledCondition& said = pod.scheduled;
  return said.present && !said.status && said.reason == reason && said.message == message;
}

}  // namespace

// The node that is kept for the pod, empty for none, where the pod names another one: that of victims, or one that was
// kept for it while its volumes were bound.
std::optional<std::string> PodStatus::UnsaidNode(const Member& member) const {
  if (const std::string* kept = state_.kept_node(member.pod)) return *kept;
  const cluster::PodEntry& entry = state_.pod(member.pod);
  if (!member.nomination.node.empty() && !entry.reserved && entry.pod->nominated_node == member.nomination.node)
    return std::string();
  return std::nullopt;
}

bool PodStatus::TellWaiting(GangId id, Member& member, const std::string& reason, const std::string& message,
                            MessageSource source) {
  const base::Millis now = clock_.MonotonicMs();
  if (member.condition_note.write != 0 || now < member.condition_note.again_ms) return false;
  const std::shared_ptr<const Pod>& pod = state_.pod(member.pod).pod;
  // Before it is considered again, what is said is of the spec as it was.
  const bool judged = !book_.at(id).line.ready && pod->meta.generation > 0;
  const auto of_it = [&](int64_t generation) {
    return !judged || generation == 0 || generation == pod->meta.generation;
  };
  const std::optional<std::string> unsaid = UnsaidNode(member);
  const bool told = !unsaid && member.condition_note.reason == reason && member.condition_note.message == message &&
                    of_it(member.condition_note.generation);
  if (!told && now < member.condition_note.version_until_ms &&
      member.condition_note.version == pod->meta.resource_version) {
    agenda_.At(id, member.condition_note.version_until_ms, Agenda::Due::kTell);
    return false;
  }
  // What is seen on the pod counts only where nothing of ours can replace it yet.
  const bool seen = !unsaid && !member.condition_note.in_doubt && Says(*pod, reason, message) &&
                    of_it(pod->scheduled.observed_generation);
  member.condition_note.reason = reason;
  member.condition_note.message = message;
  member.condition_note.source = std::move(source);
  if (told || seen) {
    if (seen) member.condition_note.generation = pod->scheduled.observed_generation;
    return false;
  }
  member.condition_note.generation = pod->meta.generation;
  const std::string time = base::FormatTime(clock_.WallMs());
  const bool turns = !pod->scheduled.present || pod->scheduled.status;
  // A probe's time, so that the write is one though the pod may carry the same words.
  const bool again = std::exchange(member.condition_note.in_doubt, false);
  std::string body = WaitingPatch(reason, message, pod->meta, again ? time : "", turns ? time : "", unsaid);
  member.condition_note.write = outbox_.Send(
      Outbox::For::kStatus, Lane::kStatus, now + kStatusDeadlineMs,
      cluster::Patch{cluster::RefOf(pod), true, cluster::Patch::Type::kStrategic, std::move(body)},
      [this, written = book_.Remember(member)](const cluster::CommandReply& reply) { OnReply(written, reply); });
  outbox_.Post(Lane::kEvent, now + kEventDeadlineMs,
               cluster::EmitEvent{cluster::RefOf(pod), true, "FailedScheduling", "Scheduling", message,
                                  pod->spec->scheduler_name});
  return true;
}

void PodStatus::Distrust(Member& member) {
  member.condition_note.message.clear();
  member.condition_note.in_doubt = true;
  member.condition_note.again_ms = member.condition_note.version_until_ms = 0;
}

void PodStatus::StartTerm(Member& member) {
  member.condition_note.message.clear();
  member.condition_note.write = member.condition_note.version_until_ms = 0;
}

void PodStatus::OnCondition(Member& member) {
  const Pod& pod = *state_.pod(member.pod).pod;
  if (member.condition_note.write != 0 || pod.bound()) return;
  if (!Says(pod, member.condition_note.reason, member.condition_note.message)) member.condition_note.message.clear();
}

void PodStatus::TellBound(const Member& member, const std::string& node) {
  const std::shared_ptr<const Pod>& pod = state_.pod(member.pod).pod;
  constexpr std::string_view kAssigned = "Successfully assigned ", kTo = " to ";
  std::string note;  // by hand: it is written for every pod
  note.reserve(kAssigned.size() + pod->meta.ns.size() + 1 + pod->meta.name.size() + kTo.size() + node.size());
  note.append(kAssigned).append(pod->meta.ns).append(1, '/').append(pod->meta.name).append(kTo).append(node);
  outbox_.Post(Lane::kEvent, clock_.MonotonicMs() + kEventDeadlineMs,
               cluster::EmitEvent{cluster::RefOf(pod), false, "Scheduled", "Binding", std::move(note),
                                  pod->spec->scheduler_name});
}

void PodStatus::TellKept(Member& member) {
  const std::shared_ptr<const Pod>& pod = state_.pod(member.pod).pod;
  if (member.condition_note.message == member.why_kept) return;
  member.condition_note.message = member.why_kept;
  member.condition_note.source = {};
  outbox_.Post(Lane::kEvent, clock_.MonotonicMs() + kEventDeadlineMs,
               cluster::EmitEvent{cluster::RefOf(pod), true, "GangNotWhole", "Undoing", member.why_kept,
                                  pod->spec->scheduler_name});
}

void PodStatus::OnReply(const GangBook::Written& written, const cluster::CommandReply& reply) {
  Member* member = book_.Find(written);
  if (!member || member->condition_note.write != reply.id) return;
  member->condition_note.write = 0;
  const base::Millis now = clock_.MonotonicMs();
  const bool done = reply.outcome == cluster::Outcome::kDone;
  if (!done) Distrust(*member);
  if (done || reply.http_status == kConflict) {
    member->condition_note.version = written.pod->meta.resource_version;
    member->condition_note.version_until_ms = now + kUnseenMs;
  }
  if (done) {  // what was seen after it counts, though it was seen before the reply
    if (book_.PodOf(member->id)->meta.resource_version != member->condition_note.version) OnCondition(*member);
    return agenda_.Touch(member->gang);
  }
  member->condition_note.again_ms = now + reply.PauseMs(kTellAgainMs);
  agenda_.At(member->gang, member->condition_note.again_ms, Agenda::Due::kTell);
}

}  // namespace tutti::core
