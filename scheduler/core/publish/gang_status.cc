// SPDX-License-Identifier: Apache-2.0
#include "core/publish/gang_status.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/gangs/census.h"

namespace tutti::core {

using cluster::Lane;
using dialects::GangState;
using model::GangId;

namespace {

constexpr base::Millis kReportDeadlineMs = 60'000;
constexpr base::Millis kGangEventDeadlineMs = 300'000;
constexpr base::Millis kReportAgainMs = 5'000;
constexpr base::Millis kMovingQuietMs = 5'000;

}  // namespace

void GangStatus::TellGang(const Gang& gang, bool warning, const std::string& reason, const std::string& note) {
  const auto target = gang.dialect->EventTarget(gang.key);
  if (!target) return;
  outbox_.Post(
      warning ? Lane::kEvent : Lane::kReport, clock_.MonotonicMs() + kGangEventDeadlineMs,
      cluster::EmitEvent{*target, warning, reason, "Scheduling", note, std::string(book_.SchedulerName(gang))});
}

void GangStatus::Report(Gang& gang) {
  if (gang.dialect->Kinds().empty() || gang.note.writes > 0) return;
  const std::shared_ptr<const Census> census = book_.CensusOf(gang);
  dialects::GangReport report;
  report.state = gang.state;
  if (gang.refusal && gang.state != GangState::kWhole && gang.state != GangState::kFinished) {
    report.sentence = gang.refusal->words().sentence;
    report.nodes_sentence = gang.refusal->words().nodes_sentence;
  }
  report.total = static_cast<int64_t>(gang.members.size()) - gang.promises;
  report.running = census->running;
  report.succeeded = census->succeeded;
  report.failed = census->failed;
  report.bound = static_cast<int64_t>(census->placed.size() + census->lost.size()) - census->running;
  report.deleting = census->deleting;
  report.pending = report.total - report.bound - report.running - report.succeeded - report.failed - report.deleting;
  if (report.pending > 0 && !report.sentence.empty()) report.pending_reasons["Unschedulable"] = report.pending;
  if (gang.note.reported && *gang.note.reported_spec == gang.spec) {
    report.now_wall_ms = gang.note.reported->now_wall_ms;  // time alone is no news
    if (report == *gang.note.reported) return;
  }
  gang.note.reported = report;
  gang.note.reported_spec = gang.spec;
  report.now_wall_ms = clock_.WallMs();
  report.spec = &gang.spec;
  std::vector<cluster::CommandBody> writes;
  gang.dialect->Report(report, &writes);
  const bool started = gang.state == GangState::kWhole || gang.state == GangState::kFinished;
  for (cluster::CommandBody& write : writes) {
    const Lane lane = started && report.pending == 0 ? Lane::kReport : Lane::kStatus;
    outbox_.Send(Outbox::For::kStatus, lane, clock_.MonotonicMs() + kReportDeadlineMs, std::move(write),
                 [this, key = gang.key, dialect = gang.dialect](const cluster::Answer& reply) {
                   OnReply(key, *dialect, reply.outcome == cluster::Outcome::kDone);
                 });
    ++gang.note.writes;
  }
}

void GangStatus::OnReply(const model::GangKey& key, dialects::Dialect& dialect, bool done) {
  if (!done) dialect.ReportLost(key);  // though the gang's last member went: it may come back
  const GangId id = book_.Find(key);
  if (!id) return;
  GangNote& note = book_.at(id).note;
  if (!done) {  // the next report says all of it: what was to be said since may have been left out, for this was to say
                // it
    note.reported.reset();
    note.report_again_ms = clock_.MonotonicMs() + kReportAgainMs;
    agenda_.At(id, note.report_again_ms, Agenda::Due::kTell);
  }
  if (note.writes == 0) return;  // the gang went, and came back, meanwhile
  if (--note.writes == 0 && done) agenda_.Touch(id);
}

// A gang that stands in line or is being bound is whole or refused in a moment, and only that is worth a write; unless
// what was written last is no longer so.
base::Millis GangStatus::ReportAt(const Gang& gang) {
  const bool told_otherwise = gang.note.reported && !gang.note.reported->sentence.empty();
  if (gang.lone || gang.members.empty() || gang.refusal || told_otherwise || gang.state == GangState::kAdmitted ||
      gang.state > GangState::kBinding)
    return gang.note.report_again_ms;
  return std::max(gang.note.report_again_ms, (gang.plan ? gang.plan->begun_ms : gang.joined_ms) + kMovingQuietMs);
}

}  // namespace tutti::core
