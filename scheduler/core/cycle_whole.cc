// SPDX-License-Identifier: Apache-2.0
// Whole: what a gang that was whole takes of the rest, and what those who find no place are told.
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>

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

Requirement OnTop(int64_t members) {
  Requirement requirement;
  requirement.min = members;
  requirement.on_top = true;
  return requirement;
}

}  // namespace

// A gang that was whole takes whatever of the rest fits, in whole units. Where that is more than can be tried at once,
// it goes on from there; what has been tried in vain costs no search while its certificate holds.
void Cycle::ConsiderWhole(GangId id, Census& census) {
  Gang& gang = book.at(id);
  SetState(gang, GangState::kWhole);
  const Millis now = clock.MonotonicMs(), figures_from_ms = FiguresFrom(gang);
  const bool afresh = gang.refusal && gang.refusal->old;  // figures are to be said again
  const auto share = [&](Refusal refusal, const Member& member) {
    if (member.refusal && !afresh) KeepFiguresOf(id, *member.refusal, &refusal);
    return std::make_shared<const Refusal>(std::move(refusal));
  };
  HoldRefusedBack(gang, now, &census);
  for (Member* member : census.refused)
    member->refusal = share(ExplainRefusedBind(gang, OnTop(1), *member, state, now), *member);
  std::vector<Part> parts = SurplusOf(gang, census);
  const auto next = std::ranges::find(parts, std::exchange(gang.surplus_from, {}),
                                      [](const Part& part) { return part.members.front()->pod; });
  if (next != parts.end()) std::ranges::rotate(parts, next);
  const std::string stand = StandOf(id, gang, state);
  std::map<std::string, std::shared_ptr<const Refusal>> refused;  // by kind; null: it has no turn now
  const auto started = std::chrono::steady_clock::now();
  int searches = 0, reserved = 0;
  int64_t placed = 0, unplaced = 0;  // members, for the metrics
  for (const Part& part : parts) {
    const std::string kind = KindOf(part, !stand.empty(), state);
    auto known = refused.find(kind);
    if (known == refused.end()) {
      const std::string shape = stand.empty() ? "+" + kind : fmt::format("{}+{}+{}", stand, reserved, kind);
      std::optional<Refusal> refusal = RefuseAtOnce(gang, part, shape, figures_from_ms);
      if (!refusal && extender_desk.Ask(part.members) == ExtenderDesk::Stand::kWaiting) continue;
      if (const auto failure = refusal ? std::nullopt : extender_desk.Failure(part.members)) {
        refusal = RefuseJudged(id, part.members, ExplainExtender(gang, OnTop(part.size), *failure));
      } else if (!refusal && searches < kSearchAtOnce) {
        PlanResult result = planner.PlaceAll(gang, part.members);
        if (result.fits) {
          extender_desk.Finish(part.members, true);
          committer.Reserve(id, result.placements);
          for (Member* member : part.members) member->refusal = nullptr, ++member->attempts;
          placed += std::ssize(part.members);
          ++reserved;
          continue;
        }
        ++searches;
        if (std::ranges::any_of(part.members, &Member::is_judged))
          refusal = RefuseJudged(id, part.members, ExplainNodes(gang, OnTop(part.size), result));
        else
          refusal = ExplainNodes(gang, OnTop(part.size), certificates.Keep(shape, std::move(result), now));
      } else if (!refusal && !gang.surplus_from) {
        gang.surplus_from = part.members.front()->pod;
        timers.insert({now + kSearchOnMs, id});
      }
      known = refused.emplace(kind, refusal ? share(*std::move(refusal), *part.members.front()) : nullptr).first;
    }
    if (!known->second) continue;
    for (Member* member : part.members) member->refusal = known->second;
    if (part.lacks() > 0) continue;
    for (Member* member : part.members) ++member->attempts;
    unplaced += std::ssize(part.members);
  }
  CountAttempt(gang, "scheduled", placed, started);
  CountAttempt(gang, "unschedulable", unplaced, started);
  const bool old = afresh && gang.surplus_from;
  Members waiting = census.pending;
  waiting.insert(waiting.end(), census.refused.begin(), census.refused.end());
  SumUp(gang, waiting);
  if (gang.refusal) gang.refusal->old = old;
  committer.Pump(id);
}

std::optional<Refusal> Cycle::RefuseAtOnce(const Gang& gang, const Part& part, const std::string& shape,
                                           Millis figures_from_ms) {
  if (part.lacks() > 0) return ExplainPart(gang, *part.members.front(), part.size, part.lacks());
  ResourceList ask;
  for (const Member* member : part.members) ask.AddAll(Charges::Weight(*state.pod(member->pod).pod_class));
  const queue::Admission admission = quota.Admit({gang.key.dialect, gang.spec.queue}, ask);
  if (!admission.admitted) {
    Refusal refusal = ExplainQueue(gang, OnTop(part.size), admission);
    refusal.figures_ms = clock.MonotonicMs();
    return refusal;
  }
  if (auto certificate = certificates.Find(shape, figures_from_ms))
    return ExplainNodes(gang, OnTop(part.size), std::move(certificate));
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
