// SPDX-License-Identifier: Apache-2.0
#include "core/publish/gang_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/gangs/census.h"

namespace tutti::core {

using cluster::Lane;
using dialects::GangState;
using model::GangId;

namespace {

constexpr base::Millis kGangEventDeadlineMs = 300'000;
constexpr base::Millis kMovingQuietMs = 5'000;
constexpr base::Millis kCountsEveryMs = 1'000;

// What the keeper knows, for one subject.
class UnseenOf final : public cluster::Unseen {
 public:
  UnseenOf(const ObjectKeeper& keeper, const ObjectKeeper::Subject& subject) : keeper_(keeper), subject_(subject) {}

  const base::Json* Written(const cluster::ObjectRef& ref) const override { return keeper_.Written(ref); }
  std::shared_ptr<const model::Object> Created(const cluster::ObjectRef& ref) const override {
    return keeper_.Created(ref);
  }
  std::vector<std::shared_ptr<const model::Object>> AllCreated() const override { return keeper_.CreatedFor(subject_); }
  const cluster::WriteRefusal* Refused(const cluster::ObjectRef& ref) const override { return keeper_.Refused(ref); }

 private:
  const ObjectKeeper& keeper_;
  const ObjectKeeper::Subject& subject_;
};

}  // namespace

void GangStatus::TellGang(const Gang& gang, bool warning, const std::string& reason, const std::string& note) {
  const auto target = gang.dialect->EventTarget(gang.key);
  if (!target) return;
  outbox_.Post(
      warning ? Lane::kEvent : Lane::kReport, clock_.MonotonicMs() + kGangEventDeadlineMs,
      cluster::EmitEvent{*target, warning, reason, "Scheduling", note, std::string(book_.SchedulerName(gang))});
}

// Members run and end one after another. Counts that are all that changed are written once a second.
bool GangStatus::WaitsForCounts(GangId id, const dialects::GangReport& report) {
  GangNote& note = book_.at(id).note;
  dialects::GangReport with_old_counts = *note.reported;
  with_old_counts.state = report.state;
  with_old_counts.sentence = report.sentence;
  with_old_counts.nodes_sentence = report.nodes_sentence;
  const base::Millis now = clock_.MonotonicMs();
  if (with_old_counts != *note.reported || now >= note.counts_from_ms) return false;
  agenda_.At(id, note.counts_from_ms, Agenda::Due::kTell);
  return true;
}

void GangStatus::StartTerm(Gang& gang) {
  Invalidate(gang);
  gang.note.announced.reset();
}

void GangStatus::Report(GangId id) {
  Gang& gang = book_.at(id);
  if (gang.dialect->Kinds().empty() || gang.dialect->blind()) return;
  const ObjectKeeper::Subject subject = SubjectOf(gang);
  if (keeper_.AwaitsReply(subject)) return;
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
  if (gang.quota) {
    report.quota = gang.quota->report;
    report.nodes_by_role = NodesByRole(gang);
  }
  if (report.pending > 0 && !report.sentence.empty()) report.pending_reasons["Unschedulable"] = report.pending;
  if (gang.note.reported && *gang.note.reported_spec == gang.spec) {
    report.now_wall_ms = gang.note.reported->now_wall_ms;  // time alone is no news
    const bool changes = gang.note.changes_at_ms != 0 && clock_.WallMs() >= gang.note.changes_at_ms;
    if (!changes && !keeper_.Owes(subject) && (report == *gang.note.reported || WaitsForCounts(id, report))) return;
  }
  gang.note.counts_from_ms = clock_.MonotonicMs() + kCountsEveryMs;
  gang.note.reported = report;
  gang.note.reported_spec = gang.spec;
  report.now_wall_ms = clock_.WallMs();
  report.spec = &gang.spec;
  if (gang.quota || !gang.spec.problem.empty() || gang.note.announced) Announce(gang, report);
  std::vector<cluster::DesiredObject> desired;
  gang.note.changes_at_ms = gang.dialect->Desire(report, UnseenOf(keeper_, subject), &desired);
  if (gang.note.changes_at_ms != 0) {
    const base::Millis in_ms = std::max<base::Millis>(1, gang.note.changes_at_ms - report.now_wall_ms);
    agenda_.At(id, clock_.MonotonicMs() + in_ms, Agenda::Due::kTell);
  }
  for (const cluster::DesiredObject& each : desired) {  // it is here once for each try, before the next one
    if (const cluster::WriteRefusal* refused = Lacks(each) ? keeper_.Refused(each.ref) : nullptr)
      TellGang(gang, true, "FailedCreate",
               fmt::format("{} {} is refused: {}", each.ref.kind, each.ref.name(), refused->message));
  }
  const Lane lane = LaneOf(gang, report, desired);
  keeper_.Want(subject, lane, std::move(desired));
}

bool GangStatus::Lacks(const cluster::DesiredObject& desired) const {
  return desired.mode == cluster::DesiredObject::Mode::kExists && !keeper_.Created(desired.ref);
}

Lane GangStatus::LaneOf(const Gang& gang, const dialects::GangReport& report,
                        std::span<const cluster::DesiredObject> desired) const {
  // These writes let its job go, or make its objects: its pods come only after them.
  if (gang.state == GangState::kAdmitted) return Lane::kBind;
  if (std::ranges::any_of(desired, [this](const auto& each) { return Lacks(each); })) return Lane::kPrepare;
  const bool started = gang.state == GangState::kWhole || gang.state == GangState::kFinished;
  return started && report.pending == 0 ? Lane::kReport : Lane::kStatus;
}

std::map<std::string, std::map<std::string, int64_t>> GangStatus::NodesByRole(const Gang& gang) const {
  std::map<std::string, std::map<std::string, int64_t>> nodes;
  for (const Member* member : gang.members) {
    const cluster::PodEntry& entry = state_.pod(member->pod);
    if (entry.node && !entry.pod->done()) ++nodes[member->role][state_.snapshot().node(entry.node).name];
  }
  return nodes;
}

// What a gang had when it was first seen is no news.
void GangStatus::Announce(Gang& gang, const dialects::GangReport& now) {
  dialects::GangReport before;
  if (gang.note.announced) {
    before = *gang.note.announced;
    before.spec = &*gang.note.announced_spec;
  } else {
    before.spec = &gang.spec;
    if (gang.quota && gang.quota->taken_over) before = now;
  }
  std::vector<dialects::ObjectEvent> events;
  gang.dialect->Announce(before, now, &events);
  for (dialects::ObjectEvent& event : events)
    outbox_.Post(
        Lane::kEvent, clock_.MonotonicMs() + kGangEventDeadlineMs,
        cluster::EmitEvent{
            std::move(event.about), event.warning, std::move(event.reason), "Scheduling", std::move(event.note),
            event.reporter.empty() ? std::string(book_.SchedulerName(gang)) : std::move(event.reporter)});
  gang.note.announced = now;
  gang.note.announced_spec = gang.spec;
}

bool GangStatus::Owes(const Gang& gang) {
  const ObjectKeeper::Subject subject = SubjectOf(gang);
  return keeper_.AwaitsReply(subject) || keeper_.Owes(subject);
}

void GangStatus::Restate(const ObjectKeeper::Subject& subject, base::Millis at_ms) {
  const GangId id = book_.Find(subject.key);
  if (!id) return;
  if (at_ms > clock_.MonotonicMs())
    agenda_.At(id, at_ms, Agenda::Due::kTell);
  else
    agenda_.Touch(id);
}

// A gang that stands in line or is being bound is whole or refused in a moment, and only that is worth a write; unless
// what was written last is no longer so.
base::Millis GangStatus::ReportAt(const Gang& gang) {
  const bool told_otherwise = gang.note.reported && !gang.note.reported->sentence.empty();
  if (gang.lone || gang.members.empty() || gang.refusal || told_otherwise || gang.state == GangState::kAdmitted ||
      gang.state > GangState::kBinding)
    return 0;
  return (gang.plan ? gang.plan->begun_ms : gang.joined_ms) + kMovingQuietMs;
}

}  // namespace tutti::core
