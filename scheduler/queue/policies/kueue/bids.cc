// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/bids.h"

#include <algorithm>
#include <utility>

#include "model/quantity.h"
#include "queue/policies/kueue/partial.h"

namespace tutti::queue {

Bids::Bids(KueueAdmission& admission, const NodeRules& nodes)
    : in_(admission),
      nodes_(nodes),
      assigner_(in_.arena_, in_.flavors_, in_.rules_.fair_sharing, in_.rules_.old_words,
                [this](const Preemptor& preemptor) { return FindVictims(preemptor); }) {}

const Holding* Bids::Replaced(const Turn& turn) const {
  if (turn.ask->replaces.empty()) return nullptr;
  const Holding* old = in_.holdings_.FindUid(turn.ask->replaces);
  return old && old->leaf == turn.leaf && !old->evicted ? old : nullptr;
}

void Bids::Assign(Turn* turn, const Assignment* within) const {
  const auto waiting = in_.waiting_.find(turn->gang);
  const std::set<std::string>* without = waiting == in_.waiting_.end() ? nullptr : &waiting->second.no_nodes;
  AssignQuestion question{turn->ask, turn->leaf, {}, {}, within, without, Replaced(*turn)};
  if (!within) question.progress = turn->before;
  turn->assignment = assigner_.Assign(question);
  turn->victims = FindVictims(*turn, turn->assignment);
  if (turn->assignment.fit() != Fit::kNow && turn->victims.empty() && MayShrink(*turn->ask))
    AssignFewer(std::move(question), turn);
}

void Bids::AssignFewer(AssignQuestion question, Turn* turn) const {
  LargestCounts(*turn->ask, [&](const std::vector<int64_t>& counts) {
    question.counts = counts;
    Assignment assignment = assigner_.Assign(question);
    std::vector<Victim> victims = FindVictims(*turn, assignment);
    if (assignment.fit() != Fit::kNow && victims.empty()) return false;
    turn->assignment = std::move(assignment);
    turn->victims = std::move(victims);
    return true;
  });
}

std::vector<Victim> Bids::FindVictims(Preemptor preemptor) const {
  preemptor.spares = in_.SparedBy(preemptor.uid, preemptor.leaf, preemptor.priority);
  return in_.rules_.fair_sharing ? FindFairVictims(in_.arena_, preemptor, in_.rules_.strategies)
                                 : FindClassicVictims(in_.arena_, preemptor);
}

std::vector<Victim> Bids::FindVictims(const Turn& turn, const Assignment& assignment) const {
  if (assignment.fit() != Fit::kPreempt) return {};
  return FindVictims({turn.ask->uid, turn.leaf, turn.ask->priority, turn.ask->queued_ms, assignment.usage,
                      assignment.CellsToPreempt()});
}

bool Bids::Overlaps(const std::vector<Victim>& victims) const {
  return std::ranges::any_of(victims, [this](const Victim& v) { return leaving_.contains(v.gang); });
}

bool Bids::FitsAfterVictims(const Turn& turn) const {
  const Ledger::Mark mark = in_.ledger_.Here();
  for (const auto& [gang, holding] : leaving_) in_.ledger_.Release(in_.holdings_.ChargeOf(*holding));
  for (const Victim& victim : turn.victims)
    if (!leaving_.contains(victim.gang)) in_.ledger_.Release(in_.holdings_.ChargeOf(*in_.holdings_.Find(victim.gang)));
  const bool fits = in_.shares_.Fits(turn.leaf, turn.assignment.usage);
  in_.ledger_.Rewind(mark);
  return fits;
}

void Bids::AssignAnew(Turn* turn) const {
  const Assignment before = turn->assignment;
  const Ledger::Mark mark = in_.ledger_.Here();
  const std::set<model::GangId> gone = in_.arena_.gone;
  for (const auto& [gang, holding] : leaving_) {
    in_.ledger_.Release(in_.holdings_.ChargeOf(*holding));
    in_.arena_.gone.insert(gang);
  }
  Assign(turn, &before);
  in_.arena_.gone = gone;
  in_.ledger_.Rewind(mark);
  if (turn->assignment.fit() == Fit::kNow) turn->assignment.deferred = true;
}

Bids::Outcome Bids::Judge(Turn* turn) const {
  if (Overlaps(turn->victims)) AssignAnew(turn);
  const Fit fit = turn->assignment.fit();
  if (fit == Fit::kNone) return Outcome::kNoQuota;
  if (fit == Fit::kPreempt && turn->victims.empty()) return Outcome::kNoVictims;
  if (fit == Fit::kDeferred) return Outcome::kWillFit;
  if (Overlaps(turn->victims)) return Outcome::kOverlaps;
  return FitsAfterVictims(*turn) ? Outcome::kHasQuota : Outcome::kNoLongerFits;
}

// In Kueue's words.
WaitExplanation Bids::WhyOf(Outcome outcome, const Assignment& assignment) {
  const std::string overlaps = "Workload has overlapping preemption targets with another workload";
  switch (outcome) {
    case Outcome::kNoQuota: return {assignment.no_fit, assignment.Message()};
    case Outcome::kWillFit:
      return {WaitReason::kWaitingForPreemptedWorkloads,
              overlaps + ", but will fit after these preemptions complete"};
    case Outcome::kOverlaps: return {WaitReason::kWaitingForQuota, overlaps};
    case Outcome::kNoLongerFits: return {WaitReason::kWaitingForQuota, kNoLongerFits};
    case Outcome::kNoVictims:
    case Outcome::kHasQuota: break;
  }
  return {WaitReason::kWaitingForQuota, assignment.Message()};
}

CellAmounts Bids::Reserved(const Turn& turn) const {
  CellAmounts reserved;
  if (in_.shares_.leaf(turn.leaf).preemption.within_cohort == model::PreemptionPolicy::kAny) return reserved;
  for (const auto& [cell, amount] : turn.assignment.usage) {
    const model::CellQuota quota = in_.shares_.Quota(turn.leaf, cell);
    int64_t most = model::SaturatingSub(quota.nominal, in_.shares_.Used(turn.leaf, cell));
    if (turn.assignment.borrowing > 0)
      most = quota.borrowing_limit ? model::SaturatingAdd(most, *quota.borrowing_limit) : amount;
    AddTo(reserved, cell, std::min(amount, most));
  }
  return reserved;
}

bool Bids::FindVictimsOnNodes(Turn* turn, std::vector<CellId> short_cells) const {
  if (!nodes_.would_place) return false;
  const model::GangAsk& ask = *turn->ask;
  const Assignment& assignment = turn->assignment;
  std::vector<Victim> victims = FindVictims(
      {ask.uid, turn->leaf, ask.priority, ask.queued_ms, assignment.usage, std::move(short_cells),
       [&](const std::vector<Victim>& gone) { return nodes_.would_place(turn->gang, assignment, gone).empty(); }});
  if (victims.empty() || Overlaps(victims)) return false;
  turn->victims = std::move(victims);
  return true;
}

bool Bids::FindNodesForFewer(Turn* turn) const {
  Assignment fewer = turn->assignment;
  const auto found = LargestCounts(*turn->ask, [&](const std::vector<int64_t>& counts) {
    Assignment assignment =
        assigner_.Assign({turn->ask, turn->leaf, counts, {}, &turn->assignment, nullptr, Replaced(*turn)});
    if (assignment.fit() != Fit::kNow || !nodes_.would_place(turn->gang, assignment, {}).empty()) return false;
    fewer = std::move(assignment);
    return true;
  });
  if (found) turn->assignment = std::move(fewer);
  return found.has_value();
}

}  // namespace tutti::queue
