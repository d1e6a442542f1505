// SPDX-License-Identifier: Apache-2.0
// Whole: what a gang that was whole takes of the rest, and what those who find no place are told.
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/planted.h"
#include "core/cycle.h"
#include "core/explain.h"

namespace tutti::core {

using base::Millis;
using dialects::GangState;
using framework::Wake;
using model::GangId;
using model::ResourceList;

namespace {

// So many searches in vain for parts of a whole gang, and others have their turn.
constexpr int kSearchAtOnce = 32;
constexpr Millis kSearchOnMs = 50;

Requirement OnTop(int64_t members, const std::string& stands) {
  Requirement requirement;
  requirement.stands = stands;
  requirement.min = members;
  requirement.on_top = true;
  return requirement;
}

}  // namespace

// One pass over the parts of the rest, and what is known after it.
struct Cycle::Filling {
  GangId id;
  std::string stand;    // StandOf
  std::string stands;   // how it stands, for people: Stands
  model::PodId from;    // whose turn it is
  bool afresh = false;  // figures are to be said again
  Millis figures_from_ms = 0;
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  std::map<std::string, std::shared_ptr<const Refusal>> refused = {};  // by kind; null: it has no turn now
  std::map<std::string, int64_t> waiting = {};                         // by kind: members that have no place yet
  int searches = 0, reserved = 0;
  int64_t placed = 0, unplaced = 0;  // members, for the metrics
  bool head = false;                 // one is at work, or has a place
  bool short_of = false;             // some whom its minimum needs exist and found no place
  bool asks = false;                 // an extender is being asked about some: their turn comes with its answer
};

// A gang that was whole takes whatever of the rest fits, in whole units, and first what its minimum lacks. If that is
// more than can be tried at once, it goes on from there; what found no place costs no search while its certificate
// holds.
void Cycle::ConsiderWhole(GangId id, Census& census) {
  Gang& gang = book.at(id);
  const Millis now = clock.MonotonicMs();
  Filling filling{id,
                  StandOf(id, gang, state),
                  Stands(Require(gang, census)),
                  std::exchange(gang.surplus_from, {}),
                  gang.refusal && gang.refusal->old,
                  FiguresFrom(gang)};
  HoldRefusedBack(gang, now, &census);
  for (Member* member : census.refused)
    member->refusal = Share(filling, ExplainRefusedBind(gang, OnTop(1, filling.stands), *member, state, now), *member);
  if (!census.pending.empty()) FillUp(filling, census);
  CountAttempt(gang, "scheduled", filling.placed, filling.started);
  CountAttempt(gang, "unschedulable", filling.unplaced, filling.started);
  const bool old = filling.afresh && gang.surplus_from;
  Members waiting = census.pending;
  waiting.insert(waiting.end(), census.refused.begin(), census.refused.end());
  SumUp(gang, waiting);
  if (gang.refusal) gang.refusal->old = old;
  SetStanding(gang, filling.reserved > 0 ? TakeCensus(gang, state) : census);
  committer.Pump(id);
}

// First a head, without which no worker is of use; then what roles and units lack of their minima; then what the gang
// lacks of its own; then the others, after the gangs of equal priority that lack some of theirs.
void Cycle::FillUp(Filling& filling, const Census& census) {
  Gang& gang = book.at(filling.id);
  std::vector<Part> parts = SurplusOf(gang, census, state);
  for (Part& part : parts) {
    part.kind = KindOf(part, !filling.stand.empty(), state);
    filling.waiting[part.kind] += std::ssize(part.members);
  }
  Lack lack(gang, census);
  std::vector<const Part*> rest;
  for (const Part& part : parts) rest.push_back(&part);
  for (const Members* there : {&census.placed, &census.reserved})
    filling.head = filling.head || std::ranges::any_of(*there, &Member::head);
  TryThose(filling, [](const Part& part) { return part.head; }, &lack, &rest);
  const bool headless = base::Planted(base::Bug::kHeadless);
  if (filling.asks) return;
  if (!filling.head && !headless) WaitForHead(filling, &rest);
  TryThose(filling, [&](const Part& part) { return lack.OfRole(part); }, &lack, &rest);
  TryThose(filling, [&](const Part&) { return lack.OfAny(); }, &lack, &rest);
  if (rest.empty() || filling.asks) return;
  if (filling.short_of && lack.any() && !headless && !base::Planted(base::Bug::kSurplusFirst))
    Hold(filling, ExplainBelowMinimum(gang, Require(gang, census)), rest);
  else if (!book.StandBehind(filling.id))
    TryThose(filling, [](const Part&) { return true; }, &lack, &rest);
}

// Takes those that are wanted out of `rest` and tries them. Who was placed may have been all that was wanted.
void Cycle::TryThose(Filling& filling, const std::function<bool(const Part&)>& wanted, Lack* lack,
                     std::vector<const Part*>* rest) {
  const auto others = std::ranges::stable_partition(*rest, [&](const Part* part) { return wanted(*part); });
  std::vector<const Part*> turn(rest->begin(), others.begin());
  const auto next = std::ranges::find(turn, filling.from, [](const Part* part) { return part->members.front()->pod; });
  if (next != turn.end()) std::ranges::rotate(turn, next);
  std::vector<const Part*> left;
  for (const Part* part : turn) {
    if (!wanted(*part)) {
      left.push_back(part);
    } else if (TryPart(filling, *part)) {
      lack->Place(*part);
      filling.head = filling.head || part->head;
    } else {
      filling.short_of = filling.short_of || part->lacks() == 0;
    }
  }
  left.insert(left.end(), others.begin(), others.end());
  *rest = std::move(left);
}

// True: it has a place.
bool Cycle::TryPart(Filling& filling, const Part& part) {
  Gang& gang = book.at(filling.id);
  const std::string& kind = part.kind;
  const Requirement rest = OnTop(filling.waiting[kind], filling.stands);
  auto known = filling.refused.find(kind);
  if (known == filling.refused.end()) {
    const Millis now = clock.MonotonicMs();
    const std::string shape =
        filling.stand.empty() ? "+" + kind : fmt::format("{}+{}+{}", filling.stand, filling.reserved, kind);
    std::optional<Refusal> refusal = RefuseAtOnce(gang, part, shape, filling.figures_from_ms, rest);
    if (!refusal && extender_desk.Ask(part.members) == ExtenderDesk::Stand::kWaiting) {
      filling.asks = true;
      return false;
    }
    if (const auto failure = refusal ? std::nullopt : extender_desk.Failure(part.members)) {
      refusal = RefuseJudged(filling.id, part.members, ExplainExtender(gang, rest, *failure));
    } else if (!refusal && filling.searches < kSearchAtOnce) {
      PlanResult result = planner.PlaceAll(gang, part.members);
      if (result.fits) {
        extender_desk.Finish(part.members, true);
        committer.Reserve(filling.id, result.placements);
        for (Member* member : part.members) member->refusal = nullptr, ++member->attempts;
        filling.placed += std::ssize(part.members);
        filling.waiting[kind] -= std::ssize(part.members);
        ++filling.reserved;
        return true;
      }
      ++filling.searches;
      if (std::ranges::any_of(part.members, &Member::is_judged))
        refusal = RefuseJudged(filling.id, part.members, ExplainNodes(gang, rest, result));
      else
        refusal = ExplainNodes(gang, rest, certificates.Keep(shape, std::move(result), now));
    } else if (!refusal && !gang.surplus_from) {
      gang.surplus_from = part.members.front()->pod;
      timers.insert({now + kSearchOnMs, filling.id});
    }
    auto reason = refusal ? Share(filling, *std::move(refusal), *part.members.front()) : nullptr;
    known = filling.refused.emplace(kind, std::move(reason)).first;
  }
  if (!known->second) return false;
  for (Member* member : part.members) member->refusal = known->second;
  if (part.lacks() > 0 || filling.afresh) return false;
  for (Member* member : part.members) ++member->attempts;
  filling.unplaced += std::ssize(part.members);
  return false;
}

// There is no head at work. If one exists, all wait for it; else those that need one do.
void Cycle::WaitForHead(Filling& filling, std::vector<const Part*>* rest) {
  const Gang& gang = book.at(filling.id);
  const auto head = std::ranges::find_if(
      gang.members, [this](const Member* member) { return member->head && !state.pod(member->pod).pod->done(); });
  const bool exists = head != gang.members.end();
  const auto others = std::ranges::stable_partition(
      *rest, [exists](const Part* part) { return exists || std::ranges::any_of(part->members, &Member::needs_head); });
  const std::vector<const Part*> waiting(rest->begin(), others.begin());
  rest->erase(rest->begin(), others.begin());
  if (!waiting.empty()) Hold(filling, ExplainNoHead(gang, exists ? *head : nullptr, state), waiting);
}

void Cycle::Hold(Filling& filling, Refusal why, const std::vector<const Part*>& parts) {
  const auto refusal = Share(filling, std::move(why), *parts.front()->members.front());
  for (const Part* part : parts)
    for (Member* member : part->members) member->refusal = refusal;
}

// As its members are told it. Figures that the member was told a moment ago stay.
std::shared_ptr<const Refusal> Cycle::Share(const Filling& filling, Refusal refusal, const Member& member) {
  if (member.refusal && !filling.afresh) KeepFiguresOf(filling.id, *member.refusal, &refusal);
  return std::make_shared<const Refusal>(std::move(refusal));
}

// Who has a place held is not there yet; and if nobody waits, members lack that do not exist, or that are leaving.
void Cycle::SetStanding(Gang& gang, const Census& census) {
  Census bound = census;
  bound.reserved.clear();
  const Requirement requirement = Require(gang, bound);
  if (requirement.met() || base::Planted(base::Bug::kWasIsWhole)) return SetState(gang, GangState::kWhole);
  if (!census.reserved.empty() && Require(gang, census).met()) return SetState(gang, GangState::kBinding);
  if (!gang.refusal) {
    if (IsTerminating(gang, census)) return SetState(gang, GangState::kTerminating);
    if (!census.pending.empty()) return SetState(gang, GangState::kBinding);  // its turn comes
    gang.refusal = ExplainMembers(gang, requirement, census, strangers.Sentence(gang.key));
    if (!census.lost.empty()) gang.refusal->wakes = gang.refusal->wakes | Wake::kNodeAdded;  // a node may come back
  }
  SetState(gang, gang.refusal->state);
}

// Members are on their way out, by somebody else's will, and none is there in their place.
bool Cycle::IsTerminating(const Gang& gang, const Census& census) const {
  if (census.deleting == 0 || census.gated > 0 || !census.pending.empty() || !census.reserved.empty()) return false;
  return std::ranges::any_of(gang.members, [this](const Member* member) {
    const model::Pod& pod = *state.pod(member->pod).pod;
    return pod.meta.deleting() && pod.bound() && !pod.done() && !pod.undo_begun;
  });
}

std::optional<Refusal> Cycle::RefuseAtOnce(const Gang& gang, const Part& part, const std::string& shape,
                                           Millis figures_from_ms, const Requirement& rest) {
  if (part.lacks() > 0) return ExplainPart(gang, *part.members.front(), part.size, part.lacks());
  ResourceList ask;
  for (const Member* member : part.members) ask.AddAll(Charges::Weight(*state.pod(member->pod).pod_class));
  const queue::Admission admission = quota.Admit({gang.key.dialect, gang.spec.queue}, ask);
  if (!admission.admitted) {
    Refusal refusal = ExplainQueue(gang, rest, admission);
    refusal.figures_ms = clock.MonotonicMs();
    return refusal;
  }
  if (auto certificate = certificates.Find(shape, figures_from_ms))
    return ExplainNodes(gang, rest, std::move(certificate));
  return std::nullopt;
}

// What its members wait for, the gang waits for; and what is said of it is said of the first that waits for room.
void Cycle::SumUp(Gang& gang, const Members& pending) {
  gang.refusal.reset();
  const Refusal* shown = nullptr;
  auto wakes = Wake::kMembers;
  absl::flat_hash_set<const Refusal*> seen;
  std::vector<std::shared_ptr<const Certificate>> by;
  for (const Member* member : pending) {
    const Refusal* refusal = member->refusal.get();
    if (!refusal || !seen.insert(refusal).second) continue;
    if (refusal->certificate)
      by.push_back(refusal->certificate);
    else
      wakes = wakes | refusal->wakes;
    if (!shown || (!HasFigures(shown->state) && HasFigures(refusal->state))) shown = refusal;
  }
  if (!shown) return;
  gang.refusal = *shown;
  gang.refusal->wakes = wakes;
  gang.refusal->certificate = nullptr;
  gang.refusal->certificates = std::move(by);
}

}  // namespace tutti::core
