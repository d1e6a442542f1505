// SPDX-License-Identifier: Apache-2.0
#include "core/passes/start_pass.h"

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "core/admit/speculation.h"
#include "core/gangs/fit.h"
#include "core/gangs/lightest.h"
#include "core/gangs/topology.h"
#include "core/publish/explain.h"

namespace tutti::core {

using base::Millis;
using dialects::GangState;
using model::GangId;

namespace {

// Gangs of one shape that want the same of the same queue are refused alike. `shape` empty: it is like no other.
Refusal Shared(const Gang& gang, Refusal refusal, const std::string& shape) {
  if (shape.empty()) return refusal;
  const queue::QueueKey queue = QueueOf(gang);
  refusal.shape = fmt::format("{}|{}|{}|{}", gang.key.dialect, queue.dialect, queue.name, shape);
  refusal.shape += OtherAsksText(gang.spec);
  if (gang.quota && gang.quota->terms) {  // where there are nodes, its turn decides whether they are its own
    const model::GangAsk& ask = gang.quota->terms->ask;
    refusal.shape += fmt::format("|{}/{}|{}", ask.ns, ask.local_queue, ask.priority);
  }
  return refusal;
}

// Tells whether it is a pod that goes to its own node, if one is kept for it, and else wherever all others of its class
// would.
bool IsPlacedByItself(const Gang& gang) { return gang.lone && FreeOfTopology(gang); }

// What is known of gangs of one shape is kept under that; of a gang that is like no other under its id.
std::string KeyOf(GangId id, const std::string& shape) { return shape.empty() ? fmt::format("#{}", id.value) : shape; }

}  // namespace

void StartPass::AdmitUnplaced(GangId id) {
  Gang& gang = book_.at(id);
  if (auto_fits_.Of(gang.spec, state_.snapshot()) == model::Fit::kAggregate)
    if (const auto lack = sums_.LackFor(id, DemandOf(gang.spec.promised)))
      return refusals_.Wait(id, ExplainSum(gang, lack->resource, lack->asked, lack->free));
  sums_.Follow(id, gang, true);
  book_.SetState(gang, GangState::kAdmitted);
}

void StartPass::Run(GangId id, Census& census) {
  Gang& gang = book_.at(id);
  if (gang.members.empty() && auto_fits_.IsAdmittedUnplaced(gang, state_.snapshot())) return AdmitUnplaced(id);
  if (committer_.GiveUpLate(id)) census = *book_.CensusOf(gang);
  if (gang.plan) {
    if (!gang.preemption && undo_.TakeOver(id, census)) return;
    for (Member* member : census.lost) undo_.EvictLost(*member);
    // Its minimum is not known: members that have a place held wait for the declaration.
    if (!gang.spec.problem.empty()) return refusals_.Wait(id, ExplainProblem(gang, gang.spec.problem));
  }
  HoldRefusedBack(gang, clock_.MonotonicMs(), &census);
  if (!Place(id, census)) return;
  book_.EndRefusal(gang);  // or no bind would leave
  committer_.Pump(id);
  // Until the evictions leave, other writes to the gang's pods are on their way. To tell of victims would collide with
  // them.
  std::optional<Refusal> awaits_victims;
  if (gang.preemption && gang.preemption->begun_ms != 0)
    awaits_victims = ExplainVictims(gang, Require(gang, *book_.CensusOf(gang)), state_);
  const bool awaits_pods = gang.plan && gang.plan->awaits_pods();
  book_.SetState(gang, awaits_pods ? GangState::kAdmitted : GangState::kBinding, std::move(awaits_victims));
}

bool StartPass::AwaitsExtenders(const Gang& gang, const Census& census, const Requirement& requirement) {
  return extender_desk_.AsksAny() && requirement.reachable() &&
         admission_.ToStart(gang, census, requirement).admitted() &&
         extender_desk_.Ask(census.pending) == ExtenderDesk::Stand::kWaiting;
}

bool StartPass::Place(GangId id, Census& census) {
  Gang& gang = book_.at(id);
  Requirement requirement = RequireToStart(id, census);
  if (requirement.met()) return true;
  if (AwaitsExtenders(gang, census, requirement)) return false;
  const bool renews = gang.refusal && gang.refusal->figures_stale;  // to say it again with new figures is no attempt
  const Announcer::Instant started = Announcer::Now();
  std::optional<Refusal> refusal = TryStart(id, census, requirement);
  if (refusal && committer_.Abort(id)) {  // what it held is for any gang that can use it, itself in another place too
    census = *book_.CensusOf(gang);
    HoldRefusedBack(gang, clock_.MonotonicMs(), &census);
    requirement = RequireToStart(id, census);
    if (AwaitsExtenders(gang, census, requirement)) return false;
    refusal = TryStart(id, census, requirement);
  }
  if (refusal && ExtenderDesk::AwaitsVictims(census.pending)) return false;  // it comes to an end with their answer
  // Where some members are gated, or still to come, nothing was attempted.
  if (requirement.reachable() && !(refusal && renews)) {
    for (Member* member : census.pending)
      if (refusal || (gang.plan && gang.plan->open.contains(member->id))) ++member->attempts;
    announcer_.Attempted(gang, refusal ? "unschedulable" : "scheduled", requirement.lacking(), started);
  }
  if (!refusal || HoldRefusingNodes(id, census)) return true;
  refusals_.Wait(id, *std::move(refusal), seeker_.WhyNone(gang, census, requirement));
  return false;
}

bool StartPass::HoldRefusingNodes(GangId id, const Census& census) {
  Gang& gang = book_.at(id);
  if (!gang.plan || !gang.plan->bind_left) return false;
  Census all = census;
  all.pending.insert(all.pending.end(), census.refused.begin(), census.refused.end());
  Requirement requirement = Require(gang, all);
  requirement.tries_again = true;
  const bool some_refused = std::ranges::any_of(
      all.pending, [](const Member* member) { return member->refused && !member->refused->nodes.empty(); });
  if (!some_refused || !requirement.reachable()) return false;
  const PlanResult result = planner_.PlaceRequired(gang, all.pending, requirement);
  if (!result.fits || !admission_.Of(gang, result.placements).admitted()) return false;
  committer_.Reserve(id, result.placements);
  return true;
}

Requirement StartPass::RequireToStart(GangId id, const Census& census) {
  Gang& gang = book_.at(id);
  Requirement requirement = Require(gang, census);
  const Millis now = clock_.MonotonicMs();
  if (!requirement.reachable() && census.refused.empty() && !gang.soft) gang.complete_since_ms = 0;
  if (requirement.reachable() && gang.complete_since_ms == 0) gang.complete_since_ms = now;
  if (gang.spec.soft_after_ms == 0 || gang.soft || gang.plan || !requirement.reachable()) return requirement;
  const Millis at = gang.complete_since_ms + gang.spec.soft_after_ms;
  if (now < at) {
    agenda_.At(id, at);
    return requirement;
  }
  gang.soft = true;
  return Require(gang, census);
}

std::optional<Refusal> StartPass::RefuseUnplaced(GangId id, const Census& census, const Requirement& requirement) {
  const Gang& gang = book_.at(id);
  const Millis now = clock_.MonotonicMs();
  if (const Admission admission = admission_.ToStart(gang, census, requirement); !admission.admitted()) {
    const bool by_min_resources = admission_.IsRefusedByMinResources(gang, census, requirement, admission);
    return Shared(gang, ExplainQueue(gang, requirement, admission, now, by_min_resources),
                  ShapeOf(gang, census, requirement));
  }
  if (!requirement.reachable()) {
    if (!census.refused.empty()) return ExplainRefusedBind(gang, requirement, *census.refused.front(), state_, now);
    return ExplainMembers(gang, requirement, census, strangers_, state_);
  }
  if (const auto failure = extender_desk_.Failure(census.pending))
    return refusals_.Judged(id, census.pending, ExplainExtender(gang, requirement, *failure));
  return std::nullopt;
}

std::optional<Refusal> StartPass::TryStart(GangId id, const Census& census, const Requirement& requirement) {
  Gang& gang = book_.at(id);
  gang.seeks = SeeksVictims::kNo;
  if (auto refusal = RefuseUnplaced(id, census, requirement)) {
    const bool short_of_queue = !refusal->asks_queue.empty() && requirement.reachable();
    if (short_of_queue && (gang.preemption || (!gang.lone && seeker_.SeeksAny())) &&
        StartWithVictims(id, census, requirement, ShapeOf(gang, census, requirement)))
      return std::nullopt;
    if (gang.preemption && !gang.plan) committer_.victims().GiveUp(id);  // that they go would not help it now
    return refusal;
  }
  const Millis now = clock_.MonotonicMs();
  std::string shape = certificates_.empty() ? std::string() : ShapeOf(gang, census, requirement);
  std::shared_ptr<Certificate> certificate;
  const auto has_own_room = [&] { return IsPlacedByItself(gang) && planner_.OwnRoom(census.pending.front()->pod); };
  if (!shape.empty() && !has_own_room()) certificate = certificates_.Find(shape, figures_.From(gang));
  if (!certificate) {
    PlanResult result = planner_.PlaceRequired(gang, census.pending, requirement);
    const bool judged = std::ranges::any_of(census.pending, &Member::is_judged);
    if (result.fits) {
      if (auto refusal = RefusePlaced(gang, census, requirement, &result))
        return judged ? refusals_.Judged(id, census.pending, *std::move(refusal)) : refusal;
      extender_desk_.Finish(census.pending, true);
      if (gang.preemption && !gang.plan) committer_.victims().GiveUp(id);  // it fits without, too
      committer_.Reserve(id, result.placements);
      return std::nullopt;
    }
    if (judged) return RefuseJudged(id, census, requirement, std::move(result));
    if (shape.empty()) shape = ShapeOf(gang, census, requirement);
    certificate = certificates_.Keep(KeyOf(id, shape), std::move(result), now);
    if (IsPlacedByItself(gang)) certificates_.IgnoreKeptRoom(*certificate);
    if (certificate->result.verdict == framework::Verdict::kGaveUp) agenda_.retries().OnCutOff(id, now);
  }
  if ((!gang.lone || gang.preemption) && StartWithVictims(id, census, requirement, shape)) return std::nullopt;
  if (!gang.lone || requirement.min != 1 || census.pending.size() != 1)
    return Shared(gang, ExplainNodes(gang, requirement, std::move(certificate)), shape);
  PreemptPass::Outcome outcome;
  if (certificate->result.verdict != framework::Verdict::kGaveUp)  // else it is tried again first
    outcome = preempt_.Run(id, *census.pending.front(), certificate.get());
  if (outcome.spares_gangs && StartWithVictims(id, census, requirement, shape)) return std::nullopt;
  Refusal refusal = ExplainNodes(gang, requirement, std::move(certificate), std::move(outcome.refused));
  if (outcome.judged) return refusals_.Judged(id, census.pending, std::move(refusal));
  return outcome.keeps_node ? refusal : Shared(gang, std::move(refusal), shape);
}

Refusal StartPass::RefuseJudged(GangId id, const Census& census, const Requirement& requirement, PlanResult result) {
  const Gang& gang = book_.at(id);
  PreemptPass::Outcome outcome;
  if (gang.lone && requirement.min == 1 && census.pending.size() == 1 && result.verdict != framework::Verdict::kGaveUp)
    outcome = preempt_.Run(id, *census.pending.front(), nullptr);
  Refusal refusal = ExplainNodes(gang, requirement, result, std::move(outcome.refused));
  if (ExtenderDesk::AwaitsVictims(census.pending)) return refusal;
  return refusals_.Judged(id, census.pending, std::move(refusal));
}

bool StartPass::StartWithVictims(GangId id, const Census& census, const Requirement& requirement,
                                 const std::string& shape) {
  Gang& gang = book_.at(id);
  const bool leaving = gang.preemption.has_value();
  if (!leaving && !VictimRemoval::MayChoose(gang, census)) {
    if (!gang.plan) seeker_.SeekAgain(id);
    return false;
  }
  VictimSeeker::Choice choice;
  if (leaving)
    choice.victims = gang.preemption->victims;
  else
    choice = seeker_.Choose(id, census, requirement, shape);
  if (choice.empty()) return false;
  if (StartsWithout(&choice, gang, census, requirement)) {
    if (leaving) choice.victims.clear();  // they are the plan's
    TakeRoom(id, std::move(choice));
    return true;
  }
  if (!leaving) {
    seeker_.PutOff(id, shape);
    return false;
  }
  if (!gang.plan) committer_.victims().GiveUp(id);
  seeker_.SeekAgain(id);
  return false;
}

void StartPass::TakeRoom(GangId id, VictimSeeker::Choice choice) {
  const Gang& gang = book_.at(id);
  for (const GangId holder : choice.holders) {
    TUTTI_CHECK(committer_.Abort(holder), "no bind of a plan whose room is taken has left");
    agenda_.MarkReady(holder);
  }
  committer_.Reserve(id, choice.result.placements, std::move(choice.victims));
  if (!gang.refusal || !gang.refusal->certificate) return;
  certificates_.EndOne(*gang.refusal->certificate);  // the next of the same shape may have victims, too
  agenda_.WakeNext(id);
}

bool StartPass::StartsWithout(VictimSeeker::Choice* choice, const Gang& gang, const Census& census,
                              const Requirement& requirement) {
  Speculation without(planner_.what_if(), book_, queues_);
  for (const Victim& victim : choice->victims) without.Evict(victim.pod);
  for (const GangId holder : choice->holders)
    for (const Member* member : book_.CensusOf(book_.at(holder))->reserved) without.Evict(member->pod);
  if (!admission_.ToStart(gang, census, requirement).admitted()) return false;
  if (!choice->result.fits) choice->result = planner_.PlaceRequired(gang, census.pending, requirement);
  return choice->result.fits && !RefusePlaced(gang, census, requirement, &choice->result);
}

// Gangs of one shape want the same: so many members of these classes in these roles. Empty: not to be shared, for some
// node was refused to a member, or is kept for one of several.
std::string StartPass::ShapeOf(const Gang& gang, const Census& census, const Requirement& requirement) const {
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
    if (member->shuns_nodes()) return {};
    if (!IsPlacedByItself(gang) && !state_.nominations().NodeOf(member->pod).empty()) return {};
    kinds.push_back({tells_roles ? std::string_view(member->role) : std::string_view(),
                     member->topology ? std::string_view(member->topology->subset) : std::string_view(),
                     state_.pod(member->pod).pod_class->id.value, must.contains(member)});
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

std::optional<Refusal> StartPass::RefusePlaced(const Gang& gang, const Census& census, const Requirement& requirement,
                                               PlanResult* result) {
  if (census.empty_handed())
    if (const auto lack = admission_.LackOfMinResources(gang))
      return ExplainMinResources(gang, requirement, lack->resource, lack->asked, lack->free, clock_.MonotonicMs());
  return FitQueue(gang, census, requirement, result);
}

// The placed members may weigh more than the least that was admitted. Then the lightest are placed in their stead.
std::optional<Refusal> StartPass::FitQueue(const Gang& gang, const Census& census, const Requirement& requirement,
                                           PlanResult* result) {
  if (gang.spec.queue.empty()) return std::nullopt;
  const Admission admission = admission_.Of(gang, result->placements);
  if (admission.admitted()) return std::nullopt;
  Refusal refusal = ExplainQueue(gang, requirement, admission, clock_.MonotonicMs());
  for (const auto& shortage : admission.shortages) {
    const Members lightest = Lightest(census.pending, requirement, state_, shortage.resource);
    PlanResult again = planner_.PlaceRequired(gang, lightest, requirement);
    if (again.fits && admission_.Of(gang, again.placements).admitted()) {
      *result = std::move(again);
      return std::nullopt;
    }
    refusal.wakes = refusal.wakes | again.wakes;
  }
  return refusal;
}

}  // namespace tutti::core
