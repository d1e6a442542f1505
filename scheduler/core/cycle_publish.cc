// SPDX-License-Identifier: Apache-2.0
// Publish: after a cycle, each touched gang and queue is told about once.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "core/cycle.h"
#include "core/evidence.h"
#include "core/explain.h"

namespace tutti::core {

using dialects::GangState;
using model::GangId;

namespace {

constexpr base::Millis kQueueReportEveryMs = 100;
// Members come one after another; that some are still missing is news only when no more come.
constexpr base::Millis kMembersQuietMs = 1'000;
constexpr base::Millis kMovingQuietMs = 5'000;
// A gang's own edits and arrivals change the reasons of all who wait. Each such write costs the gang so long. One that
// owes more than it costs to tell all its members, within these bounds, waits with what is new, but no longer than for
// the most of them.
constexpr base::Millis kRetellOneMs = 20, kRetellLeastMs = 1'000, kRetellMostMs = 30'000;

// Claims of placed members that wait for their volumes.
size_t OpenVolumes(const Gang& gang) {
  size_t open = 0;
  if (gang.plan)
    for (const auto& [pod, assignment] : gang.plan->open) open += assignment.volumes.size();
  return open;
}

observe::MemberDecision DescribeMember(const model::Pod& pod) {
  observe::MemberDecision line;
  line.ns = pod.meta.ns;
  line.name = pod.meta.name;
  line.uid = pod.meta.uid;
  line.node = pod.node_name;
  line.bound = pod.bound();
  line.finished = pod.done();
  return line;
}

}  // namespace

void Cycle::Publish() {
  std::vector<GangId> touched = std::exchange(touched_, {});
  std::ranges::sort(touched);
  for (const GangId id : touched)
    if (std::exchange(book.at(id).touched, false)) {
      Recount(book.at(id));
      queue_counts.Count(book.at(id));
      journal.Note(book.at(id).key);
      PublishGang(id);
      book.SettleIfLone(id);
    }
  const base::Millis now = clock.MonotonicMs();
  if (dirty_queues.empty() || now < next_queue_report_ms) return;
  std::map<queue::QueueKey, dialects::Dialect*> due;
  std::erase_if(dirty_queues, [&](const auto& item) {
    const auto& [key, queue] = item;
    return queue.not_before_ms <= now && due.emplace(key, queue.dialect).second;
  });
  publisher.ReportQueues(due);
  next_queue_report_ms = now + kQueueReportEveryMs;
}

// Who comes to lead touches all that there are.
void Cycle::Touch(GangId id) {
  if (!leading || std::exchange(book.at(id).touched, true)) return;
  touched_.push_back(id);
}

void Cycle::Recount(Gang& gang) {
  Tally now;
  for (const Member* member : gang.members) {
    const model::Pod& pod = *state.pod(member->pod).pod;
    now.running += pod.phase == model::PodPhase::kRunning && !pod.meta.deleting();
    if (pod.bound() || pod.done()) continue;
    if (!pod.scheduling_gates.empty())
      ++now.gated;
    else if (gang.refusal)
      ++now.unschedulable;
    else
      ++now.active;
  }
  now.binding = gang.state == GangState::kBinding;
  if (now.unschedulable > 0) now.refused_by = refused_pods_.Of(book.SchedulerName(gang), *gang.refusal);
  now.whole = gang.state == GangState::kWhole;
  now.waiting = gang.state < GangState::kBinding && !AwaitsPods(gang);
  SetTally(gang, now);
}

void Cycle::SetTally(Gang& gang, const Tally& now) {
  for (int32_t Tally::* field :
       {&Tally::active, &Tally::unschedulable, &Tally::gated, &Tally::waiting, &Tally::binding, &Tally::whole})
    tally_.*field += now.*field - gang.tally.*field;
  refused_pods_.Add(gang.tally.refused_by, -gang.tally.unschedulable);
  refused_pods_.Add(now.refused_by, now.unschedulable);
  gang.tally = now;
}

bool Cycle::TooEarly(GangId id, const Refusal& refusal) {
  const Gang& gang = book.at(id);
  const base::Millis quiet_ms = gang.joined_ms + kMembersQuietMs;
  if (refusal.state != GangState::kWaitingForMembers || gang.members.empty() || clock.MonotonicMs() >= quiet_ms)
    return false;
  timers.insert({quiet_ms, id, Timer::Due::kTell});
  return true;
}

bool Cycle::TellMembers(GangId id) {
  Gang& gang = book.at(id);
  const bool whole = gang.whole && gang.state != GangState::kInvalid, undoing = gang.plan && gang.plan->undoing;
  const base::Millis now = clock.MonotonicMs(), all_ms = kRetellOneMs * std::ssize(gang.members);
  const base::Millis may_owe_ms = std::clamp(all_ms, kRetellLeastMs, kRetellMostMs);
  const base::Millis retell_from_ms = gang.retell_ms - may_owe_ms;
  std::tuple<const Refusal*, model::ClassId, std::string_view> said;
  std::string message;
  base::Millis cost_ms = 0;
  const bool may_renew = std::exchange(gang.takes_figures, false) || figure_writes.Any(now);
  bool owes = false;
  int64_t renewed = 0;
  const auto tell = [&](Member& member, const Refusal& refusal) {
    if (TooEarly(id, refusal)) return;
    const model::ClassId pod_class = state.pod(member.pod).pod_class->id;
    if (const std::tuple now_said(&refusal, pod_class, std::string_view(member.role)); said != now_said) {
      said = now_said;
      message = MemberMessage(refusal, pod_class, member.role);
    }
    const bool anew =
        !member.told_message.empty() && !member.told_in_doubt && member.told_message != message && !undoing;
    if (anew && now < retell_from_ms) {
      timers.insert({retell_from_ms, id, Timer::Due::kTell});
      return;
    }
    const bool in_figures = anew && SaysTheSame(member.told_message, message);
    if (in_figures && !may_renew) {
      owes = true;
      return;
    }
    const bool quota = refusal.state == GangState::kWaitingForQueue;
    if (publisher.TellWaiting(id, member, quota ? options.quota_reason : "Unschedulable", message) && anew) {
      cost_ms += kRetellOneMs;
      renewed += in_figures;
    }
  };
  const Census census = TakeCensus(gang, state);
  for (Member* member : census.pending) {
    if (!whole)
      tell(*member, *gang.refusal);
    else if (member->refusal)
      tell(*member, *member->refusal);
  }
  // Before a gang is whole nobody leaves while it waits: who has a place held, such as for its volumes, waits too.
  for (Member* member : census.reserved)
    if (!gang.whole && gang.plan->open.at(member->pod).stage == Assignment::Stage::kReserved)
      tell(*member, *gang.refusal);
  if (cost_ms > 0) gang.retell_ms = std::min(std::max(now, gang.retell_ms) + cost_ms, now + may_owe_ms + kRetellMostMs);
  figure_writes.Spend(renewed);
  if (owes && !std::exchange(gang.awaits_figures, true)) figure_writes.Enqueue(id);
  return !owes;
}

void Cycle::PublishGang(GangId id) {
  Gang& gang = book.at(id);
  if (gang.refusal && gang.state != GangState::kWhole && TooEarly(id, *gang.refusal)) return;
  bool told = true;
  if (gang.refusal) {
    told = TellMembers(id);
    if (told && !TooEarly(id, *gang.refusal)) {
      if (gang.told_sentence != gang.refusal->sentence && !gang.refusal->sentence.empty() && !AwaitsPods(gang))
        publisher.TellGang(gang, true, "FailedScheduling", FullMessage(*gang.refusal));
      gang.told_sentence = gang.refusal->sentence;
      if (gang.state < GangState::kBinding && !AwaitsPods(gang)) Happened(gang, observe::Observer::Step::kWaits);
    }
  } else {
    gang.told_sentence.clear();
  }
  // What is said of the gang has the figures that its members wait to be told.
  const bool later = !told && gang.reported && gang.reported->state == gang.state && gang.state < GangState::kBinding;
  if (const base::Millis at = ReportAt(gang); clock.MonotonicMs() < at)
    timers.insert({at, id, Timer::Due::kTell});
  else if (!later)
    publisher.Report(gang);
  MarkQueues(gang.key.dialect, gang.spec.queue, gang.dialect);
  CloseIfOver(id);
}

// Its members are gone, and so has been told.
void Cycle::CloseIfOver(GangId id) {
  Gang& gang = book.at(id);
  if (!gang.members.empty() || gang.reports_on_their_way > 0 || clock.MonotonicMs() < ReportAt(gang)) return;
  if (book.Keeps(*gang.dialect, gang.key)) return;
  SetTally(gang, {});
  book.Close(id);
}

// A gang that stands in line or is being bound is whole or refused in a moment, and only that is worth a write; unless
// what was written last is no longer so.
base::Millis Cycle::ReportAt(const Gang& gang) {
  const bool told_otherwise = gang.reported && !gang.reported->sentence.empty();
  if (gang.lone || gang.members.empty() || gang.refusal || told_otherwise || gang.state > GangState::kBinding)
    return gang.report_again_ms;
  return std::max(gang.report_again_ms, (gang.plan ? gang.plan->begun_ms : gang.joined_ms) + kMovingQuietMs);
}

// What a queue holds counts in those above it too.
void Cycle::MarkQueues(const std::string& dialect_name, const std::string& queue, dialects::Dialect* dialect) {
  if (queue.empty()) return;
  dirty_queues[{dialect_name, queue}].dialect = dialect;
  for (const queue::QueueKey& key : quota.Path({dialect_name, queue})) dirty_queues[key].dialect = dialect;
}

// First the gangs, then the pods that are settled. Half a millisecond's worth: of empty places, many more.
bool Cycle::AddDecisions(Scheduler::DecisionsPlace* place, std::deque<observe::Decision>* records) const {
  constexpr size_t kMembers = 256, kPlaces = 65'536;
  size_t members = 0, places = 0;
  const auto go_on = [&] { return members < kMembers && ++places < kPlaces; };
  for (; place->gang < book.slots() && go_on(); ++place->gang)
    if (const Gang& gang = book.at(GangId(place->gang)); gang.dialect) {
      records->push_back(Describe(gang));
      members += 1 + gang.members.size();
    }
  if (place->gang < book.slots()) return false;
  for (; place->pod < state.pod_slots() && go_on(); ++place->pod)
    if (const model::PodId pod(place->pod); book.Settled(pod)) {
      records->push_back(DescribeSettled(pod));
      ++members;
    }
  return place->pod >= state.pod_slots();
}

std::optional<Scheduler::DecisionChanges> Cycle::DecisionsAfter(uint64_t sequence) const {
  std::optional<std::vector<model::GangKey>> touched = journal.After(sequence);
  if (!touched) return std::nullopt;
  Scheduler::DecisionChanges changes;
  changes.sequence = journal.last();
  for (model::GangKey& key : *touched) {
    if (const GangId id = book.Find(key))
      changes.decisions.push_back(Describe(book.at(id)));
    else if (const model::PodId pod = book.FindSettled(key))
      changes.decisions.push_back(DescribeSettled(pod));
    else
      changes.gone.push_back(std::move(key));
  }
  return changes;
}

observe::Decision Cycle::Describe(const Gang& gang) const {
  ++decisions_made_;
  observe::Decision decision;
  decision.gang = gang.key;
  decision.queue = gang.spec.queue;
  decision.scheduler_name = book.SchedulerName(gang);
  decision.priority = book.Priority(gang);
  decision.min_member = gang.spec.min_member;
  decision.state = gang.state;
  decision.since_ms = gang.since_ms;
  decision.plan = gang.plan ? gang.plan->id : gang.last_plan;
  const size_t open_volumes = OpenVolumes(gang);
  decision.reason = gang.refusal                         ? gang.refusal->reason
                    : gang.state == GangState::kWhole    ? "Whole"
                    : gang.state == GangState::kFinished ? "Finished"
                    : open_volumes > 0                   ? "BindingVolumes"
                                                         : "Binding";
  if (gang.state == GangState::kTerminating) decision.reason = "Terminating";
  if (gang.refusal)
    decision.message = FullMessage(*gang.refusal);
  else if (open_volumes > 0)
    decision.message =
        fmt::format("{} of its volumes {} still to be bound", open_volumes, open_volumes == 1 ? "is" : "are");
  for (const Member* member : gang.members) {
    observe::MemberDecision line = DescribeMember(*state.pod(member->pod).pod);
    line.role = member->role;
    if (gang.plan && !line.bound)
      if (const auto open = gang.plan->open.find(member->pod); open != gang.plan->open.end()) {
        line.node = open->second.node;
        line.bound = open->second.stage == Assignment::Stage::kBound;
      }
    if (!line.bound && !line.finished) {
      line.reason = member->told_reason;
      line.message = member->told_message;
    }
    decision.members.push_back(std::move(line));
  }
  std::ranges::sort(decision.members, {}, [](const observe::MemberDecision& m) { return std::tie(m.ns, m.name); });
  return decision;
}

// As its gang's last would be, if it were kept.
observe::Decision Cycle::DescribeSettled(model::PodId id) const {
  ++decisions_made_;
  const model::Pod& pod = *state.pod(id).pod;
  observe::Decision decision;
  decision.gang = book.KeyOfSettled(id);
  decision.scheduler_name = pod.spec->scheduler_name;
  decision.priority = pod.spec->priority;
  decision.state = pod.done() ? GangState::kFinished : GangState::kWhole;
  decision.reason = pod.done() ? "Finished" : "Whole";
  decision.since_ms = book.SettledSince(id);
  if (const auto evidence = ReadEvidence(pod)) decision.plan = evidence->plan;
  decision.members.push_back(DescribeMember(pod));
  return decision;
}

void Cycle::Audit() const {
  state.Audit();
  if (!MayDecide()) return;
  std::map<queue::QueueKey, QueueCounts::Counts> counts;
  for (uint32_t slot = 0; slot < book.slots(); ++slot) {
    const Gang& gang = book.at(GangId(slot));
    if (!gang.dialect || gang.counted_queue.empty()) continue;
    ++(counts[{gang.key.dialect, gang.counted_queue}].*gang.counted_as);
    TUTTI_CHECK(gang.touched || (gang.counted_queue == gang.spec.queue && gang.counted_as == QueueCounts::Field(gang)),
                "a gang changed and was not counted for its queue");
  }
  for (const auto& [key, count] : counts)
    TUTTI_CHECK(queue_counts.Of(key) == count, "a queue's counts are not those of its gangs");
}

observe::Observer::Gauges Cycle::Gauges() {
  observe::Observer::Gauges gauges;
  gauges.active_pods = tally_.active;
  gauges.unschedulable_pods = tally_.unschedulable;
  gauges.gated_pods = tally_.gated;
  gauges.waiting_gangs = tally_.waiting;
  gauges.binding_gangs = tally_.binding;
  gauges.whole_gangs = tally_.whole + static_cast<int64_t>(book.settled_whole());
  gauges.nodes = static_cast<int64_t>(state.snapshot().node_count());
  gauges.pods = static_cast<int64_t>(state.pod_count());
  gauges.assumed_pods = static_cast<int64_t>(state.assumed_count());
  gauges.rankings = static_cast<int64_t>(rankings.count());
  gauges.ranking_bytes = static_cast<int64_t>(rankings.bytes());
  gauges.refused = refused_pods_.Changed();
  return gauges;
}

}  // namespace tutti::core
