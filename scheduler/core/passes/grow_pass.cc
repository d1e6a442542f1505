// SPDX-License-Identifier: Apache-2.0
#include "core/passes/grow_pass.h"

#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/planted.h"
#include "core/publish/explain.h"

namespace tutti::core {

using base::Millis;
using dialects::GangState;
using framework::Wake;
using model::GangId;

namespace {

// After so many failed searches for units of one whole gang, other gangs have their turn.
constexpr int kSearchAtOnce = 32;
constexpr Millis kSearchOnMs = 50;

Requirement OnTop(int64_t members, std::shared_ptr<const observe::Standing> standing) {
  Requirement requirement;
  requirement.standing = std::move(standing);
  requirement.min = members;
  return requirement;
}

// The lesser amount of each resource.
model::ResourceList Least(const model::ResourceList& a, const model::ResourceList& b) {
  model::ResourceList least;
  for (const auto& [name, amount] : a)
    if (b.Has(name)) least.Set(name, std::min(amount, b.Get(name)));
  return least;
}

// Why the gang waits: for what its members wait for. What is said of the gang is said of the first member that waits
// for room.
std::optional<Refusal> SumUp(const Members& waiting) {
  const Refusal* shown = nullptr;
  auto wakes = Wake::kMembers;
  std::optional<model::ResourceList> asks;  // what all ask for that the queue refuses
  absl::flat_hash_set<const Refusal*> seen;
  std::vector<std::shared_ptr<const Validity>> by;
  for (const Member* member : waiting) {
    const Refusal* refusal = member->refusal.get();
    if (!refusal || !seen.insert(refusal).second) continue;
    if (!refusal->asks_queue.empty()) asks = asks ? Least(*asks, refusal->asks_queue) : refusal->asks_queue;
    if (refusal->certificate)
      by.push_back(refusal->certificate);
    else
      wakes = wakes | refusal->wakes;
    if (!shown || (!HasFigures(shown->state()) && HasFigures(refusal->state()))) shown = refusal;
  }
  if (!shown) return std::nullopt;
  Refusal sum = *shown;
  sum.wakes = wakes;
  sum.asks_queue = asks.value_or(model::ResourceList());
  sum.certificate = nullptr;
  sum.certificates = std::move(by);
  return sum;
}

}  // namespace

struct GrowPass::Filling {
  GangId id;
  Requirement requirement;                            // before anything is placed
  std::string stand;                                  // PlacementFingerprint
  std::shared_ptr<const observe::Standing> standing;  // how it stands, for people
  model::MemberId from;                               // whose turn it is
  bool afresh = false;                                // figures are to be said again
  Millis figures_from_ms = 0;
  Announcer::Instant started = Announcer::Now();
  std::map<std::string, std::shared_ptr<const Refusal>> refused = {};  // by kind; null: it has no turn now
  std::map<std::string, int64_t> waiting = {};                         // by kind: members that have no place yet
  int searches = 0, reserved = 0;
  int64_t placed = 0, unplaced = 0;  // members, for the metrics
  bool head = false;                 // one is at work, or has a place
  bool asks = false;                 // an extender is being asked about some: their turn comes with its answer
  bool behind = false;               // what it takes besides has its turn after other gangs
};

void GrowPass::Run(GangId id, Census& census) {
  Gang& gang = book_.at(id);
  const Millis now = clock_.MonotonicMs();
  HoldRefusedBack(gang, now, &census);
  Requirement requirement = Require(gang, census);
  const auto standing = std::make_shared<const observe::Standing>(StandingOf(requirement));
  Filling filling{id,
                  std::move(requirement),
                  PlacementFingerprint(id, gang, state_),
                  standing,
                  std::exchange(gang.surplus_from, {}),
                  gang.refusal && gang.refusal->figures_stale,
                  figures_.From(gang)};
  for (Member* member : census.refused)
    member->refusal = Share(filling, ExplainRefusedBind(gang, OnTop(1, standing), *member, state_, now), *member);
  if (gang.unproven && !filling.requirement.met())
    StartRest(filling, census);
  else if (!census.pending.empty())
    FillUp(filling, census);
  announcer_.Attempted(gang, "scheduled", filling.placed, filling.started);
  announcer_.Attempted(gang, "unschedulable", filling.unplaced, filling.started);
  const bool old = filling.afresh && (gang.surplus_from || filling.asks || filling.behind);  // of some they are still
  Members waiting = census.pending;
  for (const Members* held : {&census.refused, &census.beyond})
    waiting.insert(waiting.end(), held->begin(), held->end());
  std::optional<Refusal> why = SumUp(waiting);
  if (why) why->figures_stale = old;
  if (filling.reserved > 0) {
    census = *book_.CensusOf(gang);
    filling.requirement = Require(gang, census);
  }
  SetStanding(gang, census, std::move(filling.requirement), std::move(why));
  committer_.Pump(id);
}

void GrowPass::Restate(GangId id, const Census& census) {
  Gang& gang = book_.at(id);
  Requirement requirement = Require(gang, census);
  std::optional<Refusal> why;
  if (!census.pending.empty()) {
    const auto standing = std::make_shared<const observe::Standing>(StandingOf(requirement));
    why = ExplainGivingWay(gang, OnTop(std::ssize(census.pending), standing));
    RefuseWaiting(census, *why);
  }
  SetStanding(gang, census, std::move(requirement), std::move(why));
}

std::optional<Refusal> GrowPass::PlaceMinimum(GangId id) {
  Gang& gang = book_.at(id);
  const std::shared_ptr<const Census> census = book_.CensusOf(gang);
  const Requirement requirement = Require(gang, *census);
  if (requirement.met()) return std::nullopt;
  PlanResult result = planner_.PlaceRequired(gang, census->pending, requirement);
  const Requirement lacking =
      OnTop(requirement.lacking(), std::make_shared<const observe::Standing>(StandingOf(requirement)));
  const Millis now = clock_.MonotonicMs();
  std::optional<Refusal> refusal;
  if (!result.fits)
    refusal = ExplainNodes(gang, lacking, certificates_.Keep(fmt::format("#{}+", id.value), std::move(result), now));
  else if (const Admission admission = admission_.Of(gang, result.placements); !admission.admitted())
    refusal = ExplainQueue(gang, lacking, admission, now);
  else
    committer_.Reserve(id, result.placements);
  if (refusal) RefuseWaiting(*census, *refusal);
  return refusal;
}

void GrowPass::StartRest(Filling& filling, const Census& census) {
  const Gang& gang = book_.at(filling.id);
  if (!filling.requirement.reachable())
    return RefuseWaiting(census, ExplainMembers(gang, filling.requirement, census, strangers_, state_));
  if (extender_desk_.Ask(census.pending) == ExtenderDesk::Stand::kWaiting) {
    filling.asks = true;
  } else if (const auto failure = extender_desk_.Failure(census.pending)) {
    RefuseWaiting(census,
                  refusals_.Judged(filling.id, census.pending, ExplainExtender(gang, filling.requirement, *failure)));
  } else if (!PlaceMinimum(filling.id)) {
    extender_desk_.Finish(census.pending, true);
    filling.placed = filling.requirement.lacking();
    ++filling.reserved;
  }
}

// First a head, without which no worker is of use; then what roles and units lack of their minima; then what the gang
// lacks of its own; then the others, after the gangs of equal priority that lack some of theirs.
void GrowPass::FillUp(Filling& filling, const Census& census) {
  Gang& gang = book_.at(filling.id);
  std::vector<GrowthUnit> parts = SurplusOf(gang, census, state_);
  for (GrowthUnit& part : parts) {
    part.kind = GrowthFingerprint(part, !filling.stand.empty(), state_);
    filling.waiting[part.kind] += std::ssize(part.members);
  }
  Lack lack(filling.requirement, census);
  std::vector<const GrowthUnit*> rest;
  for (const GrowthUnit& part : parts) rest.push_back(&part);
  for (const Members* there : {&census.placed, &census.reserved})
    filling.head = filling.head || std::ranges::any_of(*there, &Member::head);
  TryThose(filling, [](const GrowthUnit& part) { return part.head; }, &lack, &rest);
  const bool headless = base::Planted(base::Bug::kHeadless);
  if (filling.asks) return;
  if (!filling.head && !headless) WaitForHead(filling, &rest);
  TryThose(filling, [&](const GrowthUnit& part) { return lack.OfRole(part); }, &lack, &rest);
  TryThose(filling, [&](const GrowthUnit&) { return lack.OfAny(); }, &lack, &rest);
  if (rest.empty() || filling.asks) return;
  // Also what lacks and has no pod yet: one that comes in place of a lost one finds its room.
  if (lack.any() && !headless && !base::Planted(base::Bug::kSurplusFirst))
    return Hold(filling, ExplainBelowMinimum(gang, filling.requirement), rest);
  filling.behind = agenda_.StandBehind(filling.id);
  if (!filling.behind) TryThose(filling, [](const GrowthUnit&) { return true; }, &lack, &rest);
}

void GrowPass::TryThose(Filling& filling, const std::function<bool(const GrowthUnit&)>& wanted, Lack* lack,
                        std::vector<const GrowthUnit*>* rest) {
  const auto others = std::ranges::stable_partition(*rest, [&](const GrowthUnit* part) { return wanted(*part); });
  std::vector<const GrowthUnit*> turn(rest->begin(), others.begin());
  const auto next =
      std::ranges::find(turn, filling.from, [](const GrowthUnit* part) { return part->members.front()->id; });
  if (next != turn.end()) std::ranges::rotate(turn, next);
  std::vector<const GrowthUnit*> left;
  for (const GrowthUnit* part : turn) {
    if (!wanted(*part)) {
      left.push_back(part);
    } else if (TryUnit(filling, *part)) {
      lack->Place(*part);
      filling.head = filling.head || part->head;
    }
  }
  left.insert(left.end(), others.begin(), others.end());
  *rest = std::move(left);
}

bool GrowPass::TryUnit(Filling& filling, const GrowthUnit& part) {
  auto known = filling.refused.find(part.kind);
  if (known == filling.refused.end()) {
    std::shared_ptr<const Refusal> reason;
    const Outcome outcome = Place(filling, part, &reason);
    filling.asks = filling.asks || outcome == Outcome::kAwaited;
    if (outcome != Outcome::kRefused) return outcome == Outcome::kPlaced;
    known = filling.refused.emplace(part.kind, std::move(reason)).first;
  }
  if (!known->second) return false;
  for (Member* member : part.members) member->refusal = known->second;
  if (part.lacks() > 0 || filling.afresh) return false;
  for (Member* member : part.members) ++member->attempts;
  filling.unplaced += std::ssize(part.members);
  return false;
}

GrowPass::Outcome GrowPass::Place(Filling& filling, const GrowthUnit& part, std::shared_ptr<const Refusal>* why) {
  Gang& gang = book_.at(filling.id);
  const Millis now = clock_.MonotonicMs();
  const Requirement rest = OnTop(filling.waiting[part.kind], filling.standing);
  const std::string shape =
      filling.stand.empty() ? "+" + part.kind : fmt::format("{}+{}+{}", filling.stand, filling.reserved, part.kind);
  std::optional<Refusal> refusal = RefuseAtOnce(filling, part, shape, rest);
  if (!refusal && extender_desk_.Ask(part.members) == ExtenderDesk::Stand::kWaiting) return Outcome::kAwaited;
  if (const auto failure = refusal ? std::nullopt : extender_desk_.Failure(part.members)) {
    refusal = refusals_.Judged(filling.id, part.members, ExplainExtender(gang, rest, *failure));
  } else if (!refusal && filling.searches < kSearchAtOnce) {
    PlanResult result = planner_.PlaceAll(gang, part.members);
    if (result.fits) {
      extender_desk_.Finish(part.members, true);
      committer_.Reserve(filling.id, result.placements);
      OnPlaced(filling, part);
      return Outcome::kPlaced;
    }
    ++filling.searches;
    if (std::ranges::any_of(part.members, &Member::is_judged))
      refusal = refusals_.Judged(filling.id, part.members, ExplainNodes(gang, rest, result));
    else
      refusal = ExplainNodes(gang, rest, certificates_.Keep(shape, std::move(result), now));
  } else if (!refusal && !gang.surplus_from) {
    gang.surplus_from = part.members.front()->id;
    agenda_.At(filling.id, now + kSearchOnMs);
  }
  if (refusal) *why = Share(filling, *std::move(refusal), *part.members.front());
  return Outcome::kRefused;
}

void GrowPass::OnPlaced(Filling& filling, const GrowthUnit& part) {
  for (Member* member : part.members) {
    member->refusal = nullptr;
    ++member->attempts;
  }
  filling.placed += std::ssize(part.members);
  filling.waiting[part.kind] -= std::ssize(part.members);
  ++filling.reserved;
}

void GrowPass::WaitForHead(Filling& filling, std::vector<const GrowthUnit*>* rest) {
  const Gang& gang = book_.at(filling.id);
  const auto head = std::ranges::find_if(
      gang.members, [this](const Member* member) { return member->head && !state_.pod(member->pod).pod->done(); });
  const bool exists = head != gang.members.end();
  const auto others = std::ranges::stable_partition(*rest, [exists](const GrowthUnit* part) {
    return exists || std::ranges::any_of(part->members, &Member::needs_head);
  });
  const std::vector<const GrowthUnit*> waiting(rest->begin(), others.begin());
  rest->erase(rest->begin(), others.begin());
  if (!waiting.empty()) Hold(filling, ExplainNoHead(gang, exists ? *head : nullptr, state_), waiting);
}

void GrowPass::Hold(Filling& filling, Refusal why, const std::vector<const GrowthUnit*>& parts) {
  const auto refusal = Share(filling, std::move(why), *parts.front()->members.front());
  for (const GrowthUnit* part : parts)
    for (Member* member : part->members) member->refusal = refusal;
}

std::shared_ptr<const Refusal> GrowPass::Share(const Filling& filling, Refusal refusal, const Member& member) {
  if (member.refusal && !filling.afresh) figures_.Keep(filling.id, *member.refusal, &refusal);
  return std::make_shared<const Refusal>(std::move(refusal));
}

// A member that has a place held is not there yet; and if none waits, members lack that do not exist, or are leaving.
void GrowPass::SetStanding(Gang& gang, const Census& census, Requirement requirement, std::optional<Refusal> why) {
  const bool met = requirement.met();
  if (!census.reserved.empty()) {
    Census bound = census;
    bound.reserved.clear();
    requirement = Require(gang, bound);
  }
  if (requirement.met()) gang.unproven = false;
  if (requirement.met() || base::Planted(base::Bug::kWasIsWhole))
    return book_.SetState(gang, GangState::kWhole, std::move(why));
  if (met) return book_.SetState(gang, GangState::kBinding, std::move(why));
  if (!why) {
    if (IsTerminating(gang, census, state_)) return book_.SetState(gang, GangState::kTerminating);
    if (!census.pending.empty()) return book_.SetState(gang, GangState::kBinding);  // its turn comes
    why = ExplainMembers(gang, requirement, census, strangers_, state_);
  }
  if (!census.lost.empty()) why->wakes = why->wakes | Wake::kNodeAdded;  // a node may come back
  book_.Refuse(gang, *std::move(why));
}

std::optional<Refusal> GrowPass::RefuseAtOnce(const Filling& filling, const GrowthUnit& part, const std::string& shape,
                                              const Requirement& rest) {
  const Gang& gang = book_.at(filling.id);
  if (part.lacks() > 0) return ExplainPart(gang, rest, *part.members.front(), part.size, part.lacks());
  if (const Admission admission = admission_.Of(gang, part.members); !admission.admitted())
    return ExplainQueue(gang, rest, admission, clock_.MonotonicMs());
  if (auto certificate = certificates_.Find(shape, filling.figures_from_ms))
    return ExplainNodes(gang, rest, std::move(certificate));
  return std::nullopt;
}

}  // namespace tutti::core
