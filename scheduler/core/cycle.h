// SPDX-License-Identifier: Apache-2.0
// Cycle: the scheduler's state and the passes over it: drain → wake → consider → publish.
#pragma once

#include <absl/container/btree_set.h>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/state.h"
#include "core/certificates.h"
#include "core/charges.h"
#include "core/committer.h"
#include "core/extender_desk.h"
#include "core/figure_writes.h"
#include "core/gang_book.h"
#include "core/outbox.h"
#include "core/planner.h"
#include "core/publisher.h"
#include "core/queue_counts.h"
#include "core/rankings.h"
#include "core/refused_pods.h"
#include "core/scheduler.h"
#include "core/strangers.h"
#include "core/surplus.h"
#include "core/turns.h"
#include "observe/journal.h"
#include "queue/quota.h"

namespace tutti::core {

class Cycle {
 public:
  Cycle(Options options, dialects::DialectList dialects, const base::Clock& clock, observe::Observer* observer,
        cluster::Extenders* extenders);

  // -- Drain: one event of each kind; cycle_drain.cc --
  void Apply(const cluster::PodChanged& event);
  void Apply(const cluster::PodGone& event);
  void Apply(const cluster::NodeChanged& event);
  void Apply(const cluster::NodeGone& event);
  void Apply(const cluster::ObjectChanged& event);
  void Apply(const cluster::SelectionChanged& event);
  void Apply(const cluster::ObjectGone& event);
  void Apply(const cluster::KindSynced& event);
  void Apply(const cluster::Leadership& event);
  void Apply(const cluster::Answer& event);
  void Apply(const cluster::ExtenderReply& event);

  // Namespaces: affinity terms select pods by their labels.
  static const model::ObjectKind& NamespaceKind();

  // -- Decide; cycle.cc, and of figures cycle_figures.cc --
  // Wakes and considers gangs, then says what was decided. Nothing unless synced, leading and past the fence.
  void Decide();
  bool MayDecide() const;
  // Some gang is to be considered still, and may be at once.
  bool GoesOn() const;

  bool AddDecisions(Scheduler::DecisionsPlace* place, std::deque<observe::Decision>* records) const;
  std::optional<Scheduler::DecisionChanges> DecisionsAfter(uint64_t sequence) const;
  Scheduler::Work Done() const { return {decisions_made_, queue_counts.counted()}; }
  // CHECKs what is kept against what it is kept of. For tests.
  void Audit() const;
  observe::Observer::Gauges Gauges();
  Scheduler::Footprint Holds() const {
    return {committer.awaited() + publisher.awaited(), book.count(), timers.size() + turns.size(),
            certificates.in_use()};
  }

  const Options options;
  const dialects::DialectList dialects;
  const base::Clock& clock;
  observe::Observer* const observer;
  cluster::ClusterState state;
  queue::Quota quota;
  Rankings rankings;
  GangBook book;
  Charges charges;
  QueueCounts queue_counts;
  Outbox outbox;
  ExtenderDesk extender_desk;
  Committer committer;
  Publisher publisher;
  Planner planner;
  Certificates certificates;
  Turns turns;
  FigureWrites figure_writes;
  Strangers strangers;
  observe::Journal journal;

  std::set<std::string> unsynced;  // kinds whose first list is still to come
  bool leading = false;
  base::Millis plan_after_ms = 0;
  struct Timer {
    base::Millis at_ms = 0;  // monotonic
    model::GangId gang;
    enum class Due : uint8_t {
      kConsider,
      kTell,   // what there is to tell of it, which costs no search
      kRenew,  // the figures in what is said of it; see Gang::renew_ms
    } due = Due::kConsider;
    auto operator<=>(const Timer&) const = default;
  };
  absl::btree_set<Timer> timers;
  base::Millis next_queue_report_ms = 0;
  base::Millis refresh_at_ms = 0;  // when the figures in waiting gangs' reasons are brought up to date; 0: they are
  struct DirtyQueue {
    dialects::Dialect* dialect = nullptr;
    base::Millis not_before_ms = 0;  // monotonic; after a write that failed
  };
  std::map<queue::QueueKey, DirtyQueue> dirty_queues;  // to be reported

 private:
  void DropPod(model::PodId id);
  // The pod names a scheduler that is not served here.
  void NoteStranger(model::PodId id, const model::Pod* before);
  void PutNode(const std::shared_ptr<const model::Node>& node);
  void RelabelNodes();
  void Reselect(Gang& gang);
  std::shared_ptr<const model::Node> Labelled(const std::shared_ptr<const model::Node>& node);
  void FollowStorage(const cluster::Storage::Applied& applied);
  void Follow(dialects::Dialect& dialect, const dialects::Touched& touched);
  void Touch(model::GangId id);
  void Recount(Gang& gang);
  void SetTally(Gang& gang, const Tally& now);
  void Wake();
  void EndPlan(model::GangId id);
  bool AbortPlan(model::GangId id);
  // Puts the pod into the gang that it says it is of; while a bind of it is on its way it stays, and is asked again in
  // the next cycle: what is held for it is its gang's, and so is what comes of that bind.
  void Rejoin(model::PodId id);

  bool StaysRefused(model::GangId id);
  void Consider(model::GangId id);
  void ConsiderWhole(model::GangId id, Census& census);
  struct Filling;
  void FillUp(Filling& filling, const Census& census);
  void TryThose(Filling& filling, const std::function<bool(const Part&)>& wanted, Lack* lack,
                std::vector<const Part*>* rest);
  bool TryPart(Filling& filling, const Part& part);
  void WaitForHead(Filling& filling, std::vector<const Part*>* rest);
  void Hold(Filling& filling, Refusal why, const std::vector<const Part*>& parts);
  std::shared_ptr<const Refusal> Share(const Filling& filling, Refusal refusal, const Member& member);
  // Why the part waits, as far as that is known without a search; else nullopt.
  std::optional<Refusal> RefuseAtOnce(const Gang& gang, const Part& part, const std::string& shape,
                                      base::Millis figures_from_ms, const Requirement& rest);
  static void SumUp(Gang& gang, const Members& pending);
  // Of a gang that was whole: whether it is.
  void SetStanding(Gang& gang, const Census& census);
  bool IsTerminating(const Gang& gang, const Census& census) const;
  void ConsiderStart(model::GangId id, Census& census);
  // For the metrics: a place was sought for so many members since `started`.
  void CountAttempt(const Gang& gang, std::string_view result, int64_t members,
                    std::chrono::steady_clock::time_point started) const;
  void Fence(model::GangId id, Member& member);
  bool EvictLost(Gang& gang, Member& member);
  void ForgiveNodes(Gang& gang) const;
  void ContinueUndoing(model::GangId id, const Census& census);
  // What it needs to start: once a soft gang has waited long enough, one member.
  Requirement RequireToStart(model::GangId id, const Census& census);
  // Its members would fit into its queue, but its minResources do not. REQUIRES: the queue does not admit it.
  bool AsksByMinResources(const Gang& gang, const Census& census, const Requirement& requirement,
                          const queue::Admission& admission) const;
  // Where the gang cannot start now: why; else places and reserves.
  std::optional<Refusal> TryStart(model::GangId id, const Census& census, const Requirement& requirement);
  // The refusal of members that extenders were asked about: they are asked again after a while.
  Refusal RefuseJudged(model::GangId id, const Members& members, Refusal refusal);
  std::optional<Refusal> CheckMinResources(const Gang& gang) const;
  queue::Admission Admit(const Gang& gang, const Census& census, const Requirement& requirement) const;
  queue::Admission AdmitPlaced(const Gang& gang, const std::vector<cluster::Placement>& placements) const;
  std::optional<Refusal> FitQueue(const Gang& gang, const Census& census, const Requirement& requirement,
                                  PlanResult* result);
  base::Millis FiguresMs() const;  // they may be so old
  base::Millis FiguresFrom(const Gang& gang) const;
  std::string ShapeOf(const Gang& gang, const Census& census, const Requirement& requirement) const;
  void Wait(model::GangId id, Refusal refusal);
  void SetState(Gang& gang, dialects::GangState state);
  // Tells the observer, if there is one. `member` and `node`: whom and where it concerns.
  void Happened(const Gang& gang, observe::Observer::Step step, std::string_view why = {},
                const Member* member = nullptr, std::string_view node = {}) const;
  void RefreshCounts();
  base::Millis RefreshRest();
  void TakeFigureTurns();
  void RenewFigures(model::GangId id);
  void KeepFiguresOf(model::GangId id, const Refusal& before, Refusal* now);
  void FireTimers();
  void FollowSelection(const std::string& ns, bool changed);
  void Publish();
  void PublishGang(model::GangId id);
  // Where the gang is refused: each member that waits, why. False: some are to be told new figures, and wait for that.
  bool TellMembers(model::GangId id);
  // That members lack is no news yet, for some came just now: it is told when no more come.
  bool TooEarly(model::GangId id, const Refusal& refusal);
  static base::Millis ReportAt(const Gang& gang);  // monotonic
  void CloseIfOver(model::GangId id);
  observe::Decision Describe(const Gang& gang) const;
  observe::Decision DescribeSettled(model::PodId id) const;
  // The queue and all above it are to be reported. Nothing for an empty name.
  void MarkQueues(const std::string& dialect_name, const std::string& queue, dialects::Dialect* dialect);

  framework::Wake happened_ = framework::Wake::kNothing;
  std::set<model::GangId> fenced_;    // found half done in this term: their waiting members have been written to
  std::set<model::PodId> moving_;     // to another gang, once it is known what came of their binds
  bool relabel_ = false;              // dialects may add other labels to nodes now
  uint64_t selections_ = 0;           // changes of what selects pods
  uint32_t refresh_from_ = 0;         // the gang at which RefreshCounts goes on
  base::Millis refresh_next_ms_ = 0;  // for what changed since it began; 0: nothing
  int64_t refresh_work_ = 0;          // the planner's, at its last step
  base::Millis figures_from_ms_ = 0;  // when the last one began: older figures will not do
  std::vector<model::GangId> touched_;
  mutable uint64_t decisions_made_ = 0;
  Tally tally_;  // of all gangs
  RefusedPods refused_pods_;
};

}  // namespace tutti::core
