// SPDX-License-Identifier: Apache-2.0
#include "core/cycle.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/planted.h"
#include "core/passes/consider.h"
#include "core/passes/drain.h"
#include "core/passes/flush_pass.h"
#include "core/passes/publish_pass.h"
#include "core/passes/quota_pass.h"
#include "core/passes/rehearsal.h"
#include "core/publish/sharing_status.h"

namespace tutti::core {

using base::Millis;
using framework::Wake;
using model::GangId;

namespace {

// So many binds may be unanswered before the next gang is planned: enough to keep the API server busy, few enough that
// a gang of higher priority does not queue behind thousands. One that is delayed does not count: others do not wait for
// what fails, such as for a webhook that is down in one namespace.
constexpr size_t kBindWindow = 1024;
// Once searches have done so much work in a cycle, some 5 ms, what was decided leaves, and the next cycle goes on.
constexpr int64_t kWorkAtOnce = 400'000;
// What it takes to consider a gang without a search. So a cycle ends whatever gangs make ready again.
constexpr int64_t kWorkOfOne = 100;
// So many rounds at once, each of which takes up what came of the one before; then a pause.
constexpr int kQuotaRounds = 8;
constexpr Millis kQuotaPauseMs = 100;
// What changes the figures in waiting gangs' reasons.
constexpr Wake kChangesFigures = Wake::kNodeAdded | Wake::kNodeCapacity | Wake::kNodeLabels | Wake::kNodeTaints |
                                 Wake::kPodGone | Wake::kPodPlaced | Wake::kVolume | Wake::kDriver | Wake::kQueue;

}  // namespace

struct Cycle::Parts {
  const Options options;
  const dialects::DialectList dialects;
  const base::Clock& clock;

  // What is known.
  cluster::ClusterState state{};
  Queues queues;
  // A process makes less than a thousand changes a millisecond: so its numbers are above those of the one before.
  observe::Journal journal{static_cast<uint64_t>(clock.WallMs()) * 1000};
  GangBook book{options.profiles, state, dialects, journal, clock};
  Strangers strangers{};
  RunLengths run_lengths{};
  // When, and what leaves.
  Agenda agenda{book, queues.tree(), queues.order(), clock};
  Outbox outbox{};
  // Place and admit.
  Rankings rankings{options.profiles, state.snapshot(), options.ranking_bytes};
  Planner planner{state, rankings};
  VictimTable victims{state};
  GangVictims gang_victims{state, book};
  LonePreemption lone_preemption{state, planner.what_if(), victims, &gang_victims};
  Certificates certificates{state, rankings, victims};
  Evictable evictable{state, book};
  VictimSearch victim_search{state, book, evictable, planner, rankings, clock};
  VictimRefusals victim_refusals{evictable, clock};
  QueueWaits waits{queues, book, agenda, clock};
  Charges charges{state, queues, waits};
  AutoFits auto_fits{options.autoscaled_labels};
  QuotaDesk quota_desk{options.quota_rule, state, book, auto_fits, clock};
  QueueAdmission admission{state, queues};
  RoomSums sums{state};
  // Publish.
  Announcer announcer;
  Tallies tallies{state, book};
  PodStatus pod_status{state, book, agenda, outbox, clock};
  ObjectKeeper keeper{outbox, clock};
  GangStatus gang_status{state, book, agenda, outbox, keeper, clock};
  QueueStatus queue_status{state, dialects, queues, tallies, keeper, clock};
  CohortStatus cohort_status{quota_desk, keeper, clock};
  SharingStatus sharing_status{quota_desk, keeper, cohort_status, announcer, clock};
  FigureRefresh figures{options, book, agenda, tallies, clock};
  Describer describer{state, book, quota_desk, journal};
  ClusterDescriber cluster_describer{state, queues, quota_desk, tallies};
  // Commit.
  ExtenderDesk extender_desk;
  Committer committer{options, state,         book,       agenda,      queues,    charges,
                      outbox,  extender_desk, pod_status, gang_status, announcer, clock};
  // Passes.
  Refusals refusals{book, agenda, committer, extender_desk, figures, clock};
  Enrollment enrollment{state,     dialects,  book,      agenda,  charges,     waits,        quota_desk, sums,
                        auto_fits, committer, strangers, tallies, gang_status, queue_status, announcer,  clock};
  QuotaGate quota_gate{book, agenda, quota_desk, committer, refusals, announcer, clock};
  Promises promises{state, book, committer, planner, enrollment, auto_fits};
  UndoPass undo{options, book, agenda, committer, pod_status, gang_status, announcer, clock};
  PreemptPass preempt{options,      state,     book,          agenda,    rankings, lone_preemption,
                      certificates, committer, extender_desk, announcer, clock};
  VictimSeeker seeker{options,   state,   book,          agenda,          queues,    waits, admission,
                      committer, planner, victim_search, victim_refusals, announcer, clock};
  StartPass start{state,         book,    agenda,   queues, admission, planner, certificates, committer, seeker,
                  extender_desk, figures, refusals, undo,   preempt,   sums,    auto_fits,    strangers, announcer,
                  clock};
  GrowPass grow{state,         book,    agenda,   admission, planner,   certificates, committer,
                extender_desk, figures, refusals, strangers, announcer, clock};
  Consideration consideration{state,     book,     agenda,     admission,  certificates, committer,
                              figures,   refusals, enrollment, quota_gate, promises,     sums,
                              auto_fits, start,    grow,       undo,       clock};
  StatedPlaces stated{state, book, quota_desk, committer, planner, promises, clock};
  QuotaPass quota{state, book,      agenda,  quota_desk,    quota_gate, promises, stated,
                  sums,  auto_fits, planner, consideration, grow,       figures,  announcer};
  FlushPass flush{options, book, agenda, certificates, consideration, announcer, clock};
  Drain drain{options,    state,  dialects,     queues,       waits,       quota_desk,    rankings,
              book,       agenda, charges,      certificates, outbox,      extender_desk, committer,
              pod_status, keeper, queue_status, enrollment,   run_lengths, clock};
  PublishPass publish{options,     book,         agenda,     tallies,   figures, pod_status,
                      gang_status, queue_status, enrollment, announcer, journal, clock};

  Rehearsal rehearsal{options,  state,  dialects,        book,  queues,    waits,     quota_desk,  admission, planner,
                      rankings, seeker, lone_preemption, start, auto_fits, strangers, run_lengths, clock};

  Parts(Options given, dialects::DialectList dialect_list, const base::Clock& time, observe::Observer* observer,
        cluster::Extenders* extenders)
      : options(std::move(given)),
        dialects(std::move(dialect_list)),
        clock(time),
        queues(options.queue_rule),
        announcer(observer, state, book, clock),
        extender_desk(options, state, book, agenda, rankings, outbox, extenders) {}

  uint64_t queue_links = 0;  // links_version of the queues' tree, as the agenda knows it

  bool GoesOn() const { return agenda.AnyReady() && committer.fresh_binds() < kBindWindow; }
  // Brings what queues may have, and whose turn it is, up to date with what happened.
  void RenewQueues();
  void Wake();
  // Has those lone pods considered for which one of these nodes is kept and has room now.
  void WakeNominated(const std::vector<model::NodeId>& improved);
  void FireTimers();
  // Gives quota where there is some, until what is given back is given again.
  void GiveQuota();
  // Considers gangs that are ready until that has taken so much work. Returns how much is left.
  int64_t Consider(int64_t work);
};

Cycle::Cycle(Options options, dialects::DialectList dialects, const base::Clock& clock, observe::Observer* observer,
             cluster::Extenders* extenders)
    : parts_(std::make_unique<Parts>(std::move(options), std::move(dialects), clock, observer, extenders)) {}

Cycle::~Cycle() = default;

void Cycle::Apply(const cluster::FeedEvent& event) {
  std::visit([this](const auto& e) { parts_->drain.Apply(e); }, event);
}

void Cycle::Decide() {
  Parts& it = *parts_;
  it.enrollment.RejoinMoving();
  const bool decides = it.drain.MayDecide();
  if (!decides && !it.drain.synced()) return;
  it.state.Reclassify();
  if (it.state.snapshot().symbols().Grown()) {  // users make up texts without end, also while another one leads
    it.rankings.Clear();
    it.state.SweepSymbols();
  }
  if (!decides) return;
  it.drain.RelabelNodes();
  it.RenewQueues();
  it.Wake();
  it.FireTimers();
  it.seeker.WakeRefused();
  it.flush.Run();
  if (it.agenda.AreQueuesRivals()) it.queues.Renew(/*shares=*/true);
  int64_t work = kWorkAtOnce;
  for (int round = 0; round < kQuotaRounds && (round == 0 || it.quota.any()); ++round) {
    it.GiveQuota();
    work = it.Consider(work);
  }
  it.publish.Run();
  it.sharing_status.Publish();
  it.cohort_status.Publish();
}

// What is left goes on in the next cycle, so that no events wait for it.
void Cycle::Parts::GiveQuota() {
  for (int round = 0; round < kQuotaRounds && (round == 0 || quota.any()); ++round) {
    quota.Run();
    if (state.AnyImproved() || charges.freed()) Wake();
  }
}

int64_t Cycle::Parts::Consider(int64_t work) {
  while (GoesOn() && work > 0) {
    const int64_t before = planner.work();
    const GangId id = agenda.TakeReady();
    const bool flushed = agenda.TakeFlushed(id);
    work -= kWorkOfOne;
    if (consideration.StaysRefused(id)) continue;
    if (flushed)
      flush.Consider(id);
    else
      consideration.Run(id);
    waits.Follow(id);
    figures.Regroup(id);
    agenda.Touch(id);
    if (state.AnyImproved() || charges.freed()) Wake();  // it gave up what others may wait for
    work -= planner.work() - before;
  }
  return work;
}

void Cycle::Parts::RenewQueues() {
  const uint64_t links = queues.tree().links_version();
  if (std::exchange(queue_links, links) != links) agenda.OnQueueMoved();
  if (!queues.Renew()) return;
  waits.OnLimitsChanged();
  seeker.NoteChange();
}

void Cycle::Parts::Wake() {
  using framework::Wake;
  waits.WakeFreed();
  Wake happened = drain.TakeHappened();
  const cluster::ClusterState::Improved improved = state.TakeImproved();
  if (improved.by_pods) happened = happened | Wake::kPodGone;
  if (improved.by_volumes) happened = happened | Wake::kVolume;
  if (base::Planted(base::Bug::kSleepOn)) happened = Wake::kNothing;
  if (charges.TakeChanged() || framework::Any(happened & kChangesFigures)) {
    figures.OnChange();
    seeker.NoteChange();
  }
  figures.Step(planner.work());
  happened = happened & ~base::Forgotten<framework::Wake>();
  if (!framework::Any(happened)) return;
  certificates.Happened(happened, improved.nodes);
  WakeNominated(improved.nodes);
  seeker.NoteNodes();
  agenda.Wake(happened & ~Wake::kQueue);  // of a queue that changed, its own gangs wake
}

void Cycle::Parts::WakeNominated(const std::vector<model::NodeId>& improved) {
  if (state.nominations().empty()) return;
  for (const model::NodeId node : improved) {
    if (!state.snapshot().present(node)) continue;
    for (const model::PodId pod : state.nominations().For(state.snapshot().node(node).name))
      if (const GangId id = book.GangOf(pod);
          id && book.at(id).lone && !state.pod(pod).node && planner.OwnRoom(pod))
        agenda.MarkReady(id);
  }
}

void Cycle::Parts::FireTimers() {
  const Millis now = clock.MonotonicMs();
  while (const auto timer = agenda.TakeDue(now)) {
    switch (timer->due) {
      case Agenda::Due::kConsider: agenda.MarkReady(timer->gang); break;
      case Agenda::Due::kTell: agenda.Touch(timer->gang); break;
      case Agenda::Due::kRenew: figures.OnTimer(timer->gang, timer->at_ms); break;
    }
  }
  figures.TakeTurns();
  if (const auto at = agenda.retries().DueAt(); at && *at <= now) {
    const GangId id = agenda.retries().Next();
    if (book.at(id).dialect)
      agenda.MarkWoken(id);
    else
      agenda.retries().Leave(id);
  }
}

void Cycle::Flush(cluster::ClusterWriter& writer) { parts_->outbox.Flush(writer); }

std::optional<Millis> Cycle::NextDeadline() const {
  const Parts& it = *parts_;
  if (!it.drain.leading() || !it.drain.synced()) return std::nullopt;
  if (!it.drain.MayDecide()) return it.drain.plan_after_ms();
  if (it.GoesOn()) return it.clock.MonotonicMs();
  std::optional<Millis> next;
  if (it.quota.any()) next = it.clock.MonotonicMs() + kQuotaPauseMs;
  for (const std::optional<Millis>& at : {it.agenda.NextDeadline(), it.figures.NextDeadline(), it.queue_status.DueAt(),
                                          it.sharing_status.DueAt(), it.cohort_status.DueAt(), it.flush.DueAt(),
                                          it.seeker.DueAt()})
    if (at) next = std::min(next.value_or(*at), *at);
  return next;
}

std::optional<Millis> Cycle::NextOwnDeadline() const {
  return parts_->drain.leading() && parts_->drain.synced() ? parts_->agenda.NextOwnDeadline() : std::nullopt;
}

std::vector<model::ObjectKind> Cycle::Kinds() const { return parts_->drain.Kinds(); }
bool Cycle::synced() const { return parts_->drain.synced(); }
std::string Cycle::WhyNotSynced() const { return parts_->drain.WhyNotSynced(); }
bool Cycle::leading() const { return parts_->drain.leading(); }
bool Cycle::quiet() const { return parts_->committer.quiet(); }
std::optional<observe::Outlook> Cycle::Rehearse(const observe::WhatIf& what_if) {
  return parts_->drain.MayDecide() ? parts_->rehearsal.Run(what_if) : std::nullopt;
}
const Describer& Cycle::describer() const { return parts_->describer; }
const ClusterDescriber& Cycle::cluster_describer() const { return parts_->cluster_describer; }
const observe::Journal& Cycle::journal() const { return parts_->journal; }
const cluster::ClusterState& Cycle::state() const { return parts_->state; }

observe::Observer::Gauges Cycle::Gauges() {
  observe::Observer::Gauges gauges;
  parts_->tallies.Fill(&gauges);
  gauges.nodes = static_cast<int64_t>(parts_->state.snapshot().node_count());
  gauges.pods = static_cast<int64_t>(parts_->state.pod_count());
  gauges.assumed_pods = static_cast<int64_t>(parts_->state.reserved());
  gauges.rankings = static_cast<int64_t>(parts_->rankings.count());
  gauges.ranking_bytes = static_cast<int64_t>(parts_->rankings.bytes());
  return gauges;
}

Cycle::Footprint Cycle::Holds() const {
  return {.awaited = parts_->outbox.awaited(),
          .gangs = parts_->book.count(),
          .timers = parts_->agenda.timers(),
          .certificates = parts_->certificates.in_use(),
          .gangs_counted = parts_->tallies.counted(),
          .censuses = parts_->book.censuses_taken(),
          .classes_ranked = parts_->rankings.made(),
          .searches = parts_->planner.searches(),
          .search_work = static_cast<uint64_t>(parts_->planner.work())};
}

void Cycle::Audit() const {
  parts_->state.Audit();
  parts_->book.Audit();
  size_t held = 0, asked = 0;
  parts_->book.ForEach([&](GangId, const Gang& gang) {
    for (const Member* member : gang.members) {
      held += member->held.ids.size();
      asked += member->asked.ids.size();
    }
  });
  parts_->queues.Audit(held, asked);
  if (parts_->drain.MayDecide()) parts_->tallies.Audit();
}

}  // namespace tutti::core
