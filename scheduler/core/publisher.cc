// SPDX-License-Identifier: Apache-2.0
#include "core/publisher.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/json_string.h"

namespace tutti::core {

using cluster::Lane;
using dialects::GangState;
using model::GangId;
using model::Pod;

namespace {

constexpr base::Millis kStatusDeadlineMs = 60'000;
constexpr base::Millis kEventDeadlineMs = 300'000;
constexpr base::Millis kTellAgainMs = 5'000;
constexpr base::Millis kUnseenMs = 60'000;  // a watch that is silent is begun anew before
constexpr int kConflict = 409;

// By hand: it is written for every waiting pod. A message may quote what a user wrote. Only of the resourceVersion
// `only_of`: a pod that was bound meanwhile, by a write that overtook this one, would say for ever that it waits.
// `ends_nomination`: no node is kept for it any more.
std::string WaitingPatch(const std::string& reason, const std::string& message, const model::ObjectMeta& only_of,
                         const std::string& probed, const std::string& turned, bool ends_nomination) {
  std::string body = "{";
  const auto field = [&body](std::string_view name, std::string_view value, std::string_view end = ",") {
    body.append(name);
    base::AppendQuoted(value, &body);
    body += end;
  };
  field(R"("metadata":{"resourceVersion":)", only_of.resource_version, "},");
  body += R"("status":{)";
  if (ends_nomination) body += R"("nominatedNodeName":null,)";
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

// The pod still names the node that was kept for it.
bool Publisher::StillNominated(const Member& member) const {
  const cluster::PodEntry& entry = state_.pod(member.pod);
  return !member.nominated.empty() && !entry.assumed && entry.pod->nominated_node == member.nominated;
}

bool Publisher::TellWaiting(GangId id, Member& member, const std::string& reason, const std::string& message) {
  const base::Millis now = clock_.MonotonicMs();
  if (member.telling != 0 || now < member.tell_again_ms) return false;
  const std::shared_ptr<const Pod>& pod = state_.pod(member.pod).pod;
  // Before it is considered again, what is said is of the spec as it was.
  const bool judged = !book_.at(id).ready && pod->meta.generation > 0;
  const auto of_it = [&](int64_t generation) {
    return !judged || generation == 0 || generation == pod->meta.generation;
  };
  const bool unkept = StillNominated(member);
  const bool told =
      !unkept && member.told_reason == reason && member.told_message == message && of_it(member.told_generation);
  if (!told && now < member.told_version_ms && member.told_version == pod->meta.resource_version) {
    on_timer(id, member.told_version_ms);
    return false;
  }
  // What is seen on the pod counts only where nothing of ours can replace it yet.
  const bool seen =
      !unkept && !member.told_in_doubt && Says(*pod, reason, message) && of_it(pod->scheduled.observed_generation);
  member.told_reason = reason;
  member.told_message = message;
  if (told || seen) {
    if (seen) member.told_generation = pod->scheduled.observed_generation;
    return false;
  }
  member.told_generation = pod->meta.generation;
  const std::string time = base::FormatTime(clock_.WallMs());
  const bool turns = !pod->scheduled.present || pod->scheduled.status;
  // A probe's time, so that the write is one though the pod may carry the same words.
  const bool again = std::exchange(member.told_in_doubt, false);
  std::string body = WaitingPatch(reason, message, pod->meta, again ? time : "", turns ? time : "", unkept);
  member.telling =
      outbox_.Send(Lane::kStatus, now + kStatusDeadlineMs,
                   cluster::Patch{cluster::RefOf(pod), true, cluster::Patch::Type::kStrategic, std::move(body)});
  told_.emplace(member.telling, Told{book_.at(id).key, member.pod, pod->meta.uid, pod->meta.resource_version});
  outbox_.Post(Lane::kEvent, now + kEventDeadlineMs,
               cluster::EmitEvent{cluster::RefOf(pod), true, "FailedScheduling", "Scheduling", message,
                                  pod->spec->scheduler_name});
  return true;
}

void Publisher::Distrust(Member& member) {
  member.told_message.clear();
  member.told_in_doubt = true;
  member.tell_again_ms = member.told_version_ms = 0;
}

void Publisher::OnCondition(Member& member) {
  const Pod& pod = *state_.pod(member.pod).pod;
  if (member.telling != 0 || pod.bound()) return;
  if (!Says(pod, member.told_reason, member.told_message)) member.told_message.clear();
}

void Publisher::TellBound(const Member& member, const std::string& node) {
  const std::shared_ptr<const Pod>& pod = state_.pod(member.pod).pod;
  constexpr std::string_view kAssigned = "Successfully assigned ", kTo = " to ";
  std::string note;  // by hand: it is written for every pod
  note.reserve(kAssigned.size() + pod->meta.ns.size() + 1 + pod->meta.name.size() + kTo.size() + node.size());
  note.append(kAssigned).append(pod->meta.ns).append(1, '/').append(pod->meta.name).append(kTo).append(node);
  outbox_.Post(Lane::kEvent, clock_.MonotonicMs() + kEventDeadlineMs,
               cluster::EmitEvent{cluster::RefOf(pod), false, "Scheduled", "Binding", std::move(note),
                                  pod->spec->scheduler_name});
}

void Publisher::TellKept(Member& member) {
  const std::shared_ptr<const Pod>& pod = state_.pod(member.pod).pod;
  if (member.told_message == member.kept) return;
  member.told_message = member.kept;
  outbox_.Post(
      Lane::kEvent, clock_.MonotonicMs() + kEventDeadlineMs,
      cluster::EmitEvent{cluster::RefOf(pod), true, "GangNotWhole", "Undoing", member.kept, pod->spec->scheduler_name});
}

void Publisher::TellGang(const Gang& gang, bool warning, const std::string& reason, const std::string& note) {
  const auto target = gang.dialect->EventTarget(gang.key);
  if (!target) return;
  outbox_.Post(
      warning ? Lane::kEvent : Lane::kReport, clock_.MonotonicMs() + kEventDeadlineMs,
      cluster::EmitEvent{*target, warning, reason, "Scheduling", note, std::string(book_.SchedulerName(gang))});
}

void Publisher::Report(Gang& gang) {
  if (gang.dialect->Kinds().empty() || gang.reports_on_their_way > 0) return;
  const Census census = TakeCensus(gang, state_);
  dialects::GangReport report;
  report.state = gang.state;
  if (gang.refusal && gang.state != GangState::kWhole && gang.state != GangState::kFinished) {
    report.sentence = gang.refusal->sentence;
    report.nodes_sentence = gang.refusal->nodes_sentence;
  }
  report.total = static_cast<int64_t>(gang.members.size());
  report.running = census.running;
  report.succeeded = census.succeeded;
  report.failed = census.failed;
  report.bound = static_cast<int64_t>(census.placed.size() + census.lost.size()) - census.running;
  report.deleting = census.deleting;
  report.pending = report.total - report.bound - report.running - report.succeeded - report.failed - report.deleting;
  if (report.pending > 0 && !report.sentence.empty()) report.pending_reasons["Unschedulable"] = report.pending;
  if (gang.reported && *gang.reported_spec == gang.spec) {
    report.now_wall_ms = gang.reported->now_wall_ms;  // time alone is no news
    if (report == *gang.reported) return;
  }
  gang.reported = report;
  gang.reported_spec = gang.spec;
  report.now_wall_ms = clock_.WallMs();
  report.spec = &gang.spec;
  std::vector<cluster::CommandBody> writes;
  gang.dialect->Report(report, &writes);
  const bool started = gang.state == GangState::kWhole || gang.state == GangState::kFinished;
  for (cluster::CommandBody& write : writes) {
    const Lane lane = started && report.pending == 0 ? Lane::kReport : Lane::kStatus;
    reports_.emplace(outbox_.Send(lane, clock_.MonotonicMs() + kStatusDeadlineMs, std::move(write)),
                     std::pair(gang.key, gang.dialect));
    ++gang.reports_on_their_way;
  }
}

std::vector<std::string_view> Publisher::ResourcesOfNodes() const {
  const cluster::Snapshot& nodes = state_.snapshot();
  std::vector<std::string_view> names;
  for (uint32_t r = 0; r < nodes.columns(); ++r)
    if (const model::ResourceId column(r); nodes.Exists(column)) names.push_back(nodes.ResourceName(column));
  return names;
}

model::ResourceList Publisher::Allocated(const queue::QueueKey& key, std::vector<std::string_view> names) const {
  std::ranges::copy(quota_.Capped(key), std::back_inserter(names));
  model::ResourceList allocated;
  for (const std::string_view name : names)
    if (const int64_t used = quota_.Used(key, name); used > 0) allocated.Set(name, used);
  return allocated;
}

void Publisher::ReportQueues(const std::map<queue::QueueKey, dialects::Dialect*>& queues) {
  std::map<queue::QueueKey, dialects::QueueReport> reports;
  const std::vector<std::string_view> of_nodes = ResourcesOfNodes();
  for (const auto& [key, dialect] : queues)
    if (const model::QueueSpec* spec = quota_.Find(key); spec && !queues_on_their_way_.contains(key)) {
      dialects::QueueReport& report = reports[key];
      report.spec = spec;
      report.allocated = Allocated(key, of_nodes);
      report.now_wall_ms = clock_.WallMs();
      const QueueCounts::Counts counts = counts_.Of(key);
      report.pending = counts.pending;
      report.starting = counts.starting;
      report.incomplete = counts.incomplete;
      report.running = counts.running;
      report.finished = counts.finished;
    }
  for (const auto& [key, report] : reports) {
    dialects::Dialect* dialect = queues.at(key);
    std::vector<cluster::CommandBody> writes;
    dialect->ReportQueue(report, &writes);
    for (cluster::CommandBody& write : writes) {
      const cluster::CommandId id =
          outbox_.Send(Lane::kStatus, clock_.MonotonicMs() + kStatusDeadlineMs, std::move(write));
      queue_reports_.emplace(id, std::pair(key, dialect));
      ++queues_on_their_way_[key].count;
    }
  }
}

bool Publisher::OnAnswer(const cluster::Answer& answer) {
  const bool done = answer.outcome == cluster::Outcome::kDone;
  if (const auto told = told_.extract(answer.id)) {
    OnToldAnswer(told.mapped(), answer);
  } else if (const auto report = reports_.extract(answer.id)) {
    OnReportAnswer(report.mapped().first, report.mapped().second, done);
  } else if (const auto queue = queue_reports_.extract(answer.id)) {
    const auto& [key, dialect] = queue.mapped();
    QueueWrites& writes = queues_on_their_way_[key];
    if (!done) dialect->QueueReportLost(key.name);
    writes.failed = writes.failed || !done;
    if (--writes.count > 0) return true;
    const base::Millis again_ms = writes.failed ? clock_.MonotonicMs() + kTellAgainMs : 0;
    queues_on_their_way_.erase(key);
    on_queue_free(key, dialect, again_ms);
  } else {
    return false;
  }
  return true;
}

void Publisher::OnToldAnswer(Told& told, const cluster::Answer& answer) {
  const GangId id = book_.Find(told.gang);
  Member* member = book_.Find(id, told.pod);
  if (!member || member->telling != answer.id || state_.pod(told.pod).pod->meta.uid != told.uid) return;
  member->telling = 0;
  const base::Millis now = clock_.MonotonicMs();
  const bool done = answer.outcome == cluster::Outcome::kDone;
  if (!done) Distrust(*member);
  if (done || answer.http_status == kConflict) {
    member->told_version = std::move(told.version);
    member->told_version_ms = now + kUnseenMs;
  }
  if (done) {  // what was seen after it counts, though it was seen before the answer
    if (state_.pod(told.pod).pod->meta.resource_version != member->told_version) OnCondition(*member);
    return on_free(id);
  }
  member->tell_again_ms = now + kTellAgainMs;
  on_timer(id, member->tell_again_ms);
}

void Publisher::OnReportAnswer(const model::GangKey& key, dialects::Dialect* dialect, bool done) {
  if (!done) dialect->ReportLost(key);  // though the gang's last member went: it may come back
  const GangId id = book_.Find(key);
  if (!id) return;
  Gang& gang = book_.at(id);
  if (!done) {  // whoever wrote it: what was to be said since may have been left out, for this was to say it
    gang.reported.reset();
    gang.report_again_ms = clock_.MonotonicMs() + kTellAgainMs;
    on_timer(id, gang.report_again_ms);
  }
  if (gang.reports_on_their_way == 0) return;  // it went, and came back, meanwhile
  if (--gang.reports_on_their_way == 0 && done) on_free(id);
}

}  // namespace tutti::core
