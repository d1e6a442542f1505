// SPDX-License-Identifier: Apache-2.0
#include "core/cycle.h"

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <compare>
#include <tuple>
#include <utility>

#include "base/planted.h"
#include "core/evidence.h"
#include "core/explain.h"
#include "core/lightest.h"
#include "core/topology_rules.h"
#include "model/quantity.h"

namespace tutti::core {

using base::Millis;
using dialects::GangState;
using framework::Wake;
using model::GangId;
using model::ResourceList;
using Step = observe::Observer::Step;

namespace {

// So many binds may be unanswered before the next gang is planned: enough to keep the API server busy, few enough that
// a gang of higher priority does not queue behind thousands.
constexpr size_t kBindWindow = 1024;
// Once searches have done so much work in a cycle, some 10 ms, what was decided leaves, and the next cycle goes on.
constexpr int64_t kWorkAtOnce = 750'000;
constexpr Millis kFenceAgainMs = 1'000;  // a second at least, as the time in the condition: it changes the pod
// Its bind is one of the gang's plan, acknowledged or seen. Whoever was bound before, or by others, is none of the
// plan's concern: a node that is gone may come back. REQUIRES: a plan, and the member is bound.
bool IsOfPlan(const Member& member, const Gang& gang, const cluster::ClusterState& state) {
  if (gang.plan->open.contains(member.pod)) return true;
  const std::optional<Evidence> evidence = ReadEvidence(*state.pod(member.pod).pod);
  return evidence && evidence->plan == gang.plan->id;
}

// All its members have ended, and it waits for no others: there are as many as it needs.
bool HasEnded(const Gang& gang, const Census& census) {
  if (gang.members.empty()) return gang.spec.min_member == 0 && gang.spec.problem.empty();
  const int64_t ended = census.succeeded + census.failed;
  return ended == std::ssize(gang.members) && ended >= gang.spec.min_member;
}

}  // namespace

Cycle::Cycle(Options given, dialects::DialectList dialect_list, const base::Clock& time, observe::Observer* watcher,
             cluster::Extenders* extenders)
    : options(std::move(given)),
      dialects(std::move(dialect_list)),
      clock(time),
      observer(watcher),
      rankings(options.profiles, state.snapshot(), options.ranking_bytes),
      book(options.profiles, state, dialects, clock),
      charges(state, quota),
      extender_desk(options, state, book, rankings, outbox, extenders),
      committer(options, state, book, charges, outbox, extender_desk, clock),
      publisher(state, book, quota, queue_counts, outbox, clock),
      planner(state, rankings),
      certificates(state.snapshot(), rankings) {
  book.on_leave = [this](Gang& gang, Member& member) {
    committer.OnLeave(gang, member);
    if (gang.members.size() > 1) return;
    SetTally(gang, {});
    Happened(gang, Step::kGone);
    if (!fenced_.empty()) fenced_.erase(book.Find(gang.key));
    if (gang.plan) EndPlan(book.Find(gang.key));
  };
  book.on_close = [this](Gang& gang) { queue_counts.Forget(gang); };
  book.on_change = [this](model::GangKey key) { journal.Note(std::move(key)); };
  committer.on_timer = [this](GangId id, Millis at_ms) { timers.insert({at_ms, id}); };
  publisher.on_timer = [this](GangId id, Millis at_ms) { timers.insert({at_ms, id, Timer::Due::kTell}); };
  publisher.on_free = [this](GangId id) { Touch(id); };
  publisher.on_queue_free = [this](const queue::QueueKey& key, dialects::Dialect* dialect, Millis not_before_ms) {
    dirty_queues[key] = {dialect, not_before_ms};
  };
  committer.on_bound = [this](const Gang& gang, const Member& member, const std::string& node) {
    publisher.TellBound(member, node);
    if (!observer) return;
    Happened(gang, Step::kBound, {}, &member, node);
    const Millis since_ms = std::max(state.pod(member.pod).pod->meta.created_ms, member.free_ms);
    observer->OnBound(static_cast<double>(clock.WallMs() - since_ms) / 1000.0, member.attempts);
    if (gang.whole) observer->OnFilledUp();
  };
  committer.on_whole = [this](Gang& gang) {
    gang.refusal.reset();
    const Requirement requirement = Require(gang, TakeCensus(gang, state));
    if (gang.members.size() > 1 && requirement.met())
      publisher.TellGang(gang, false, "Scheduled", fmt::format("all {} required members are bound", requirement.min));
    Happened(gang, Step::kStarted);
    if (observer)
      observer->OnWhole(static_cast<double>(clock.MonotonicMs() - gang.complete_since_ms) / 1000.0,
                        static_cast<int64_t>(gang.members.size()));
  };
  committer.on_evicted = [this](const Gang& gang, const Member& member, const std::string& why) {
    Happened(gang, Step::kEvicted, why, &member);
  };
  committer.on_refused = [this](Gang& gang, Member& member, const std::string& message) {
    publisher.TellWaiting(book.Find(gang.key), member, "SchedulerError", message);
  };
}

bool Cycle::MayDecide() const {
  return (unsynced.empty() || base::Planted(base::Bug::kPlanUnsynced)) && leading &&
         clock.MonotonicMs() >= plan_after_ms;
}

void Cycle::Decide() {
  for (const model::PodId pod : std::exchange(moving_, {})) Rejoin(pod);
  const bool decides = MayDecide();
  if (!decides && !unsynced.empty()) return;
  state.Settle();
  if (state.snapshot().symbols().Grown()) {  // users make up texts without end, also while another one leads
    rankings.Clear();
    state.SweepSymbols();
  }
  if (!decides) return;
  while (std::exchange(relabel_, false)) RelabelNodes();  // a node may tell of others' labels, each thing once
  Wake();
  FireTimers();
  const int64_t most_work = planner.work() + kWorkAtOnce;
  while (GoesOn() && planner.work() < most_work) {
    const GangId id = book.TakeReady();
    if (StaysRefused(id)) continue;
    turns.Leave(id);
    Consider(id);
    book.Regroup(id);
    Touch(id);
    if (state.AnyImproved() || charges.freed()) Wake();  // it gave up what others may wait for
  }
  Publish();
}

bool Cycle::GoesOn() const { return book.AnyReady() && committer.binds_in_flight() < kBindWindow; }

// It was woken as the first of those that room came for, and others took that room before its turn; and what it says of
// that is still so, or may be so until its turn to search for a placement comes. Else it is considered, which costs no
// search while its certificate holds.
bool Cycle::StaysRefused(GangId id) {
  Gang& gang = book.at(id);
  if (!gang.only_woken || gang.plan || !gang.refusal || !gang.refusal->certificate) return false;
  Certificate& certificate = *gang.refusal->certificate;
  const Millis now = clock.MonotonicMs();
  const bool holds = certificates.StillHolds(certificate);
  if (WasCutOff(*gang.refusal) && (!holds || (gang.refusal->old && certificate.made_ms < FiguresFrom(gang))))
    return !turns.Take(id, certificate.made_ms, now);
  turns.Leave(id);
  if (!holds || gang.refusal->old || certificate.made_ms >= gang.refusal->figures_ms + FiguresMs() / 2) return false;
  // A node that refused a bind may do again.
  for (const Member* member : gang.members)
    if (member->refused)
      for (const auto& [node, until_ms] : member->refused->nodes)
        if (until_ms <= now) return false;
  if (!gang.spec.queue.empty()) {
    const Census census = TakeCensus(gang, state);
    if (!Admit(gang, census, Require(gang, census)).admitted) return false;
  }
  book.Regroup(id);
  return true;
}

void Cycle::Wake() {
  const cluster::ClusterState::Improved improved = state.TakeImproved();
  if (improved.by_pods) happened_ = happened_ | Wake::kPodGone;
  if (improved.by_volumes) happened_ = happened_ | Wake::kVolume;
  if (charges.TakeFreed()) happened_ = happened_ | Wake::kQueue;
  if (base::Planted(base::Bug::kSleepOn)) happened_ = Wake::kNothing;
  RefreshCounts();
  const auto happened = std::exchange(happened_, Wake::kNothing) & ~base::Forgotten<framework::Wake>();
  if (!framework::Any(happened)) return;
  certificates.Happened(happened, improved.nodes);
  book.Wake(happened);
}

void Cycle::FireTimers() {
  const Millis now = clock.MonotonicMs();
  while (!timers.empty() && timers.begin()->at_ms <= now) {
    const auto [at_ms, id, due] = *timers.begin();
    timers.erase(timers.begin());
    Gang& gang = book.at(id);
    if (!gang.dialect) continue;
    if (due == Timer::Due::kConsider) book.MarkReady(id);
    if (due == Timer::Due::kTell) Touch(id);
    if (due == Timer::Due::kRenew && gang.renew_ms == at_ms) {
      gang.renew_ms = 0;
      RenewFigures(id);
    }
  }
  TakeFigureTurns();
  if (const auto at = turns.DueAt(); at && *at <= now) {
    const GangId id = turns.Next();
    if (book.at(id).dialect)
      book.MarkWoken(id);
    else
      turns.Leave(id);
  }
}

void Cycle::EndPlan(GangId id) {
  Gang& gang = book.at(id);
  timers.erase({gang.plan->deadline_ms, id});
  committer.EndPlan(id);
}

// True: its members are pending again.
bool Cycle::AbortPlan(GangId id) {
  const auto& plan = book.at(id).plan;
  const Millis deadline_ms = plan ? plan->deadline_ms : 0;
  if (!committer.Abort(id)) return false;
  timers.erase({deadline_ms, id});
  return true;
}

// What default constraints say of a pod is of the moment in which it is planned.
void Cycle::Reselect(Gang& gang) {
  if (std::exchange(gang.selections, selections_) == selections_) return;
  for (const Member* member : gang.members) state.Reselect(member->pod);
  state.Settle();
}

// Nodes that refused a bind long enough ago are as any other.
void Cycle::ForgiveNodes(Gang& gang) const {
  const Millis now = clock.MonotonicMs();
  for (Member* member : gang.members)
    if (member->refused) std::erase_if(member->refused->nodes, [now](const auto& item) { return item.second <= now; });
}

void Cycle::Consider(GangId id) {
  Gang& gang = book.at(id);
  Reselect(gang);
  ForgiveNodes(gang);
  Census census = TakeCensus(gang, state);
  if (gang.plan && gang.plan->undoing) return ContinueUndoing(id, census);
  if (gang.plan && gang.whole) {
    bool leaving = false;  // the delete may have to be asked for again
    for (Member* member : census.lost)
      if (IsOfPlan(*member, gang, state)) leaving = EvictLost(gang, *member) || leaving;
    if (gang.plan->open.empty() && !leaving) EndPlan(id);
  }
  if (HasEnded(gang, census)) {
    gang.refusal.reset();
    if (gang.plan && gang.plan->open.empty()) EndPlan(id);  // nothing of it is left for who may yet join
    return SetState(gang, GangState::kFinished);
  }
  if (gang.members.empty() && !book.Keeps(*gang.dialect, gang.key)) {  // it is here until that has been said
    gang.refusal.reset();
    return SetState(gang, GangState::kWaitingForMembers);
  }
  const std::string problem = gang.spec.problem.empty() ? TopologyProblem(gang) : gang.spec.problem;
  // Of a whole gang nobody more is placed; who has a place held is bound.
  if (!problem.empty() && (!gang.plan || gang.whole || AbortPlan(id))) return Wait(id, ExplainProblem(problem));
  if (!gang.whole && !gang.plan && !census.empty_handed()) {
    const Finding finding = Examine(gang, census, state);
    if (finding.whole && !base::Planted(base::Bug::kUndoWhole)) {
      gang.whole = true;
    } else if (!census.holds_nodes()) {  // there is nothing to undo
      gang.whole = Require(gang, census).met();
    } else {
      const bool first = fenced_.insert(id).second;  // later it was planned here, and nothing of it is on its way
      committer.Resume(id, finding.half_done.plan, finding.half_done.commit_uid, first);
      // A word on those that cannot be bound at once, whatever they say already: a late bind of whoever planned this
      // then finds another resourceVersion than it asks for.
      if (first && !base::Planted(base::Bug::kDropFence))
        for (Member* member : census.pending) Publisher::Distrust(*member);
      if (std::ranges::any_of(census.placed, [this](const Member* m) { return state.pod(m->pod).pod->undo_begun; }))
        gang.plan->deadline_ms = clock.MonotonicMs();  // whoever planned this was undoing it: that is finished
      timers.insert({gang.plan->deadline_ms, id});
      census = TakeCensus(gang, state);  // it knows now who is to be the last
    }
  }
  committer.ConfirmIfWhole(id);  // it may ask for less than it did
  // Where the only ones that were bound have run, the rest starts as any gang does, as after a restart.
  if (gang.whole && !census.holds_nodes() && (census.ran.empty() || !Require(gang, census).met())) {
    gang.whole = gang.soft = false;
    gang.complete_since_ms = 0;
  }
  if (!gang.whole) gang.besides = false;
  if (!gang.plan && census.empty_handed() && IsTerminating(gang, census)) {
    gang.refusal.reset();
    return SetState(gang, GangState::kTerminating);
  }
  if (gang.whole)
    ConsiderWhole(id, census);
  else
    ConsiderStart(id, census);
}

// True: it is on its way out.
bool Cycle::EvictLost(Gang& gang, Member& member) {
  const bool going = committer.EvictLost(gang, member);
  if (!member.kept.empty()) publisher.TellKept(member);
  return going;
}

void Cycle::ConsiderStart(GangId id, Census& census) {
  Gang& gang = book.at(id);
  if (gang.plan) {
    if (clock.MonotonicMs() >= gang.plan->deadline_ms && options.policy == Options::Policy::kRepair &&
        !committer.CommitOnItsWay(id) && !base::Planted(base::Bug::kKeepHalf)) {
      if (Member* member = committer.CommitInDoubt(gang)) return Fence(id, *member);
      const std::string why = fmt::format("not every required member of the gang could be bound in time; {}",
                                          gang.refusal ? gang.refusal->sentence : "its members start again together");
      if (committer.Undo(id, why)) {
        if (observer) observer->OnUndone(static_cast<int64_t>(census.placed.size()));
        Happened(gang, Step::kUndone, why);
        publisher.TellGang(gang, true, "Undone", why);
      }
      census = TakeCensus(gang, state);
      return ContinueUndoing(id, census);
    }
    for (Member* member : census.lost) EvictLost(gang, *member);
    // Nobody knows what its minimum is: whoever has a place held waits for the declaration.
    if (!gang.spec.problem.empty()) return Wait(id, ExplainProblem(gang.spec.problem));
  }
  HoldRefusedBack(gang, clock.MonotonicMs(), &census);
  Requirement requirement = RequireToStart(id, census);
  // It is considered again when they have answered; till then nothing is known that is new.
  const auto asks_extenders = [&] {
    return requirement.reachable() && Admit(gang, census, requirement).admitted &&
           extender_desk.Ask(census.pending) == ExtenderDesk::Stand::kWaiting;
  };
  if (!requirement.met()) {
    if (asks_extenders()) return;
    const bool renews = gang.refusal && gang.refusal->old;  // to say it again with new figures is no attempt
    const auto started = std::chrono::steady_clock::now();
    std::optional<Refusal> refusal = TryStart(id, census, requirement);
    if (refusal && AbortPlan(id)) {  // what it held is for whoever can use it, itself in another place too
      census = TakeCensus(gang, state);
      HoldRefusedBack(gang, clock.MonotonicMs(), &census);
      requirement = RequireToStart(id, census);
      if (asks_extenders()) return;
      refusal = TryStart(id, census, requirement);
    }
    if (requirement.reachable() &&
        !(refusal && renews)) {  // where some are gated, or still to come, nothing was attempted
      for (Member* member : census.pending)
        if (refusal || (gang.plan && gang.plan->open.contains(member->pod))) ++member->attempts;
      CountAttempt(gang, refusal ? "unschedulable" : "scheduled", requirement.lacking(), started);
    }
    if (refusal) return Wait(id, std::move(*refusal));
  }
  gang.refusal.reset();
  SetState(gang, GangState::kBinding);
  committer.Pump(id);
}

Requirement Cycle::RequireToStart(GangId id, const Census& census) {
  Gang& gang = book.at(id);
  Requirement requirement = Require(gang, census);
  const Millis now = clock.MonotonicMs();
  if (requirement.reachable() && gang.complete_since_ms == 0) gang.complete_since_ms = now;
  if (gang.spec.soft_after_ms == 0 || gang.soft || gang.plan || !requirement.reachable()) return requirement;
  const Millis at = gang.complete_since_ms + gang.spec.soft_after_ms;
  if (now < at) {
    timers.insert({at, id});
    return requirement;
  }
  gang.soft = true;
  return Require(gang, census);
}

void Cycle::CountAttempt(const Gang& gang, std::string_view result, int64_t members,
                         std::chrono::steady_clock::time_point started) const {
  if (!observer || members == 0) return;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  observer->OnAttempt(book.SchedulerName(gang), result, members, took.count());
}

void Cycle::Happened(const Gang& gang, Step step, std::string_view why, const Member* member,
                     std::string_view node) const {
  if (!observer) return;
  observe::Observer::Happening happening{.step = step, .gang = gang.key};
  happening.lone = gang.lone;
  happening.queue = gang.spec.queue;
  happening.members = static_cast<int64_t>(gang.members.size());
  happening.sentence = why;
  happening.node = node;
  if (member) happening.pod = state.pod(member->pod).pod->meta.name;
  if (step == Step::kWaits) {
    happening.reason = gang.refusal->reason;
    happening.sentence = gang.refusal->sentence;
    happening.more = gang.refusal->nodes_sentence;
  }
  if (step == Step::kStarted && gang.complete_since_ms != 0)
    happening.seconds = static_cast<double>(clock.MonotonicMs() - gang.complete_since_ms) / 1000.0;
  observer->OnHappening(happening);
}

// Once the member's pod has changed, its bind that nobody answered comes too late.
void Cycle::Fence(GangId id, Member& member) {
  Plan& plan = *book.at(id).plan;
  const Millis now = clock.MonotonicMs();
  if (now < plan.fenced_ms) return;
  plan.fenced_ms = now + kFenceAgainMs;
  timers.insert({plan.fenced_ms, id});
  Publisher::Distrust(member);
  publisher.TellWaiting(id, member, "Unschedulable", "its bind was not answered, and its gang is not whole in time");
}

std::optional<Refusal> Cycle::TryStart(GangId id, const Census& census, const Requirement& requirement) {
  Gang& gang = book.at(id);
  const auto refuse = [&](Refusal refusal, const std::string& shape) {
    if (shape.empty()) return refusal;  // it is like no other
    refusal.shape = fmt::format("{}|{}|{}", gang.key.dialect, gang.spec.queue, shape);
    if (gang.spec.min_resources)
      for (const auto& [name, amount] : *gang.spec.min_resources) refusal.shape += fmt::format("|{}={}", name, amount);
    return refusal;
  };
  const base::Millis now = clock.MonotonicMs();
  if (const queue::Admission admission = Admit(gang, census, requirement); !admission.admitted) {
    const bool min_resources = AsksByMinResources(gang, census, requirement, admission);
    Refusal refusal =
        refuse(ExplainQueue(gang, requirement, admission, min_resources), ShapeOf(gang, census, requirement));
    refusal.figures_ms = now;
    return refusal;
  }
  if (!requirement.reachable()) {
    if (!census.refused.empty()) return ExplainRefusedBind(gang, requirement, *census.refused.front(), state, now);
    return ExplainMembers(gang, requirement, census, strangers.Sentence(gang.key));
  }
  if (const auto failure = extender_desk.Failure(census.pending))
    return RefuseJudged(id, census.pending, ExplainExtender(gang, requirement, *failure));
  std::string shape = certificates.empty() ? std::string() : ShapeOf(gang, census, requirement);
  std::shared_ptr<Certificate> certificate;
  if (!shape.empty()) certificate = certificates.Find(shape, FiguresFrom(gang));
  if (!certificate) {
    PlanResult result = planner.PlaceRequired(gang, census.pending, requirement);
    if (result.fits) {
      if (census.empty_handed())
        if (auto refusal = CheckMinResources(gang)) return refusal->figures_ms = now, refusal;
      if (auto refusal = FitQueue(gang, census, requirement, &result)) return refusal;
      extender_desk.Finish(census.pending, true);
      committer.Reserve(id, result.placements);
      return std::nullopt;
    }
    if (std::ranges::any_of(census.pending, &Member::is_judged))
      return RefuseJudged(id, census.pending, ExplainNodes(gang, requirement, result));
    shape = ShapeOf(gang, census, requirement);
    certificate = certificates.Keep(shape.empty() ? fmt::format("#{}", id.value) : shape, std::move(result), now);
    if (certificate->result.verdict == framework::Verdict::kGaveUp) turns.OnCutOff(id, now);
  }
  return refuse(ExplainNodes(gang, requirement, std::move(certificate)), shape);
}

// What an extender says is true of this moment alone: no other gang is refused by it, and any event may change it.
Refusal Cycle::RefuseJudged(GangId id, const Members& members, Refusal refusal) {
  refusal.wakes = framework::Wake::kAll;
  refusal.figures_ms = clock.MonotonicMs();
  timers.insert({clock.MonotonicMs() + extender_desk.Finish(members, false), id});
  return refusal;
}

// Gangs of one shape want the same: so many members of these classes in these roles. Empty: not to be shared, for some
// node was refused to a member, or is kept for one.
std::string Cycle::ShapeOf(const Gang& gang, const Census& census, const Requirement& requirement) const {
  std::string shape = fmt::format("{}/{}", requirement.min, requirement.have);
  for (const Requirement::Role& role : requirement.roles)
    shape += fmt::format("|{}:{}/{}", role.name, role.min, role.have);
  if (!FreeOfTopology(gang)) {
    if (requirement.have > 0) return {};  // where those are counts too
    shape += fmt::format("|t{}", TopologyText(gang));
  }
  struct Like {
    std::string_view role, subset;
    uint32_t pod_class;
    bool must;
    auto operator<=>(const Like&) const = default;
  };
  absl::InlinedVector<Like, 4> kinds;
  const bool tells_roles =
      !requirement.roles.empty() || gang.spec.topology.each_role ||
      std::ranges::adjacent_find(census.pending, std::ranges::not_equal_to(), &Member::role) != census.pending.end();
  const absl::flat_hash_set<const Member*> must(requirement.must.begin(), requirement.must.end());
  for (const Member* member : census.pending) {
    if (member->shuns_nodes() || !state.pod(member->pod).pod->nominated_node.empty()) return {};
    kinds.push_back({tells_roles ? std::string_view(member->role) : std::string_view(),
                     member->topology ? std::string_view(member->topology->subset) : std::string_view(),
                     state.pod(member->pod).pod_class->id.value, must.contains(member)});
  }
  std::ranges::sort(kinds);
  for (size_t i = 0, end = 0; i < kinds.size(); i = end) {
    while (end < kinds.size() && kinds[end] == kinds[i]) ++end;
    fmt::format_to(std::back_inserter(shape), "|{}#{}x{}", kinds[i].role, kinds[i].pod_class, end - i);
    if (!kinds[i].subset.empty()) fmt::format_to(std::back_inserter(shape), "@{}", kinds[i].subset);
    if (kinds[i].must) shape += '!';
  }
  return shape;
}

// For the least that can start it, where so many are there. Before anything is placed, for minResources at least.
queue::Admission Cycle::Admit(const Gang& gang, const Census& census, const Requirement& requirement) const {
  ResourceList ask;
  const queue::QueueKey key{gang.key.dialect, gang.spec.queue};
  if (!gang.spec.queue.empty()) {
    // Users make up resources without end, and each costs a look at all members.
    if (requirement.reachable()) ask = LeastWeight(census.pending, requirement, state, quota.Capped(key));
    if (requirement.have == 0 && gang.spec.min_resources) ask.MaxAll(*gang.spec.min_resources);
  }
  return quota.Admit(key, ask);
}

bool Cycle::AsksByMinResources(const Gang& gang, const Census& census, const Requirement& requirement,
                               const queue::Admission& admission) const {
  if (!gang.spec.min_resources || requirement.have > 0) return false;
  ResourceList members;
  if (requirement.reachable())
    members = LeastWeight(census.pending, requirement, state, quota.Capped({gang.key.dialect, gang.spec.queue}));
  return std::ranges::any_of(admission.shortages, [&](const queue::Shortage& shortage) {
    return shortage.asked > members.Get(shortage.resource);
  });
}

queue::Admission Cycle::AdmitPlaced(const Gang& gang, const std::vector<cluster::Placement>& placements) const {
  ResourceList ask;
  for (const cluster::Placement& placement : placements) ask.AddAll(Charges::Weight(*placement.pod_class));
  return quota.Admit({gang.key.dialect, gang.spec.queue}, ask);
}

// Who was placed may weigh more than the least that was admitted. Then the lightest are placed in their stead.
std::optional<Refusal> Cycle::FitQueue(const Gang& gang, const Census& census, const Requirement& requirement,
                                       PlanResult* result) {
  if (gang.spec.queue.empty()) return std::nullopt;
  const queue::Admission admission = AdmitPlaced(gang, result->placements);
  if (admission.admitted) return std::nullopt;
  Refusal refusal = ExplainQueue(gang, requirement, admission);
  refusal.figures_ms = clock.MonotonicMs();
  for (const queue::Shortage& shortage : admission.shortages) {
    const Members lightest = Lightest(census.pending, requirement, state, shortage.resource);
    PlanResult again = planner.PlaceRequired(gang, lightest, requirement);
    if (again.fits && AdmitPlaced(gang, again.placements).admitted) {
      *result = std::move(again);
      return std::nullopt;
    }
    refusal.wakes = refusal.wakes | again.wakes;
  }
  return refusal;
}

std::optional<Refusal> Cycle::CheckMinResources(const Gang& gang) const {
  if (!gang.spec.min_resources) return std::nullopt;
  const cluster::Snapshot& nodes = state.snapshot();
  for (const auto& [name, asked] : *gang.spec.min_resources) {
    const model::ResourceId column = nodes.ColumnOfPods(name);
    int64_t free = 0;
    for (uint32_t slot = 0; nodes.Exists(column) && slot < nodes.slots(); ++slot)
      free = model::SaturatingAdd(free, std::max<int64_t>(0, nodes.Free(model::NodeId(slot), column)));
    if (asked > free) return ExplainMinResources(gang, name, asked, free);
  }
  return std::nullopt;
}

void Cycle::ContinueUndoing(GangId id, const Census& census) {
  Gang& gang = book.at(id);
  SetState(gang, GangState::kWaitingForNodes);
  // To say so also changes the pods: a bind that is still on its way to one of them comes too late then.
  gang.refusal = ExplainUndoing(gang);
  committer.GiveUpUnsent(id);
  committer.Pump(id);  // repeats binds in doubt
  bool busy = false;   // with those who are seen to be going it is not: that may take for ever
  for (Member* member : census.placed) busy = committer.Evict(gang, *member, "its gang is being undone") || busy;
  // What is acknowledged has to be seen, or without its plan it would look as if it waited.
  if (busy || !gang.plan->open.empty()) return;
  for (Member* member : gang.members)
    if (!member->kept.empty()) publisher.TellKept(*member);
  EndPlan(id);
  book.MarkReady(id);
}

void Cycle::Wait(GangId id, Refusal refusal) {
  Gang& gang = book.at(id);
  if (!gang.spec.remark.empty() && !refusal.sentence.empty() && refusal.state != GangState::kInvalid)
    refusal.sentence += " " + gang.spec.remark;
  if (gang.refusal && !gang.refusal->old) KeepFiguresOf(id, *gang.refusal, &refusal);
  SetState(gang, refusal.state);
  gang.refusal = std::move(refusal);
  if (gang.plan) committer.Pump(id);
}

void Cycle::SetState(Gang& gang, GangState to) {
  if (gang.state != to || gang.since_ms == 0) gang.since_ms = clock.WallMs();
  gang.state = to;
}

}  // namespace tutti::core
