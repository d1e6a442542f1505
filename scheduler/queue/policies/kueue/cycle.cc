// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/quantity.h"
#include "queue/policies/kueue/partial.h"

namespace tutti::queue {
namespace {

// Some role has flavors that were not looked at.
bool LeavesFlavors(const FlavorProgress& progress) {
  return std::ranges::any_of(progress, [](const auto& role) {
    return std::ranges::any_of(role, [](const auto& tried) { return tried.second >= 0; });
  });
}

// Every role that went on where it stood has come to its last flavor. Others may have some left by then, and so on
// without end.
bool HasGoneRound(const FlavorProgress& before, const FlavorProgress& now) {
  bool any = false;
  for (size_t i = 0; i < std::min(before.size(), now.size()); ++i)
    for (const auto& [resource, tried] : before[i]) {
      const auto at = now[i].find(resource);
      if (tried < 0) continue;
      if (at != now[i].end() && at->second >= 0) return false;
      any = true;
    }
  return any;
}

}  // namespace

KueueCycle::KueueCycle(KueueAdmission& admission, const std::vector<QueueId>& leaves, PassResult* result)
    : in_(admission),
      leaves_(leaves),
      result_(result),
      assigner_(in_.arena_, in_.flavors_, in_.rules_.fair_sharing, in_.rules_.old_words,
                [this](const Preemptor& preemptor) { return FindVictims(preemptor); }) {}

bool KueueCycle::Run() {
  Turns turns(in_.arena_, Nominate(), in_.rules_.fair_sharing);
  turns_ = &turns;
  const Ledger::Mark mark = in_.ledger_.Here();
  while (Turn* turn = turns.Next()) Consider(turn);
  in_.ledger_.Rewind(mark);
  Commit();
  return progress_;
}

std::vector<Turn> KueueCycle::Nominate() {
  std::vector<Turn> turns;
  const auto usage = [this](const std::string& local) { return in_.usage_.Of(local, in_.now_); };
  for (const QueueId leaf : leaves_) {
    const auto gang = in_.lines_.First(leaf, usage);
    if (!gang || !in_.IsActive(leaf)) continue;
    Waiting& waiting = in_.waiting_.at(*gang);
    if (waiting.nodes_epoch != in_.nodes_epoch_) waiting.progress.clear();
    if (waiting.lacks_nodes && waiting.progress.empty() && waiting.nodes_epoch == in_.nodes_epoch_ &&
        in_.shares_.leaf(leaf).strategy == model::QueueingStrategy::kStrictFifo)
      continue;
    Turn turn{*gang, leaf, &waiting.ask, {}, {}, waiting.progress};
    if (!waiting.ask.problem.empty()) {
      Refuse(turn, WaitReason::kMisconfigured, waiting.ask.problem, true);
      continue;
    }
    // Its pods run on the quota of that one.
    if (in_.holdings_.Find(*gang) && !Replaced(turn)) {
      Refuse(turn, WaitReason::kMisconfigured, "it has quota in another queue", true);
      continue;
    }
    Assign(&turn, nullptr);
    turns.push_back(std::move(turn));
  }
  return turns;
}

const Holding* KueueCycle::Replaced(const Turn& turn) const {
  if (turn.ask->replaces.empty()) return nullptr;
  const Holding* old = in_.holdings_.FindUid(turn.ask->replaces);
  return old && old->leaf == turn.leaf && !old->evicted ? old : nullptr;
}

void KueueCycle::Assign(Turn* turn, const Assignment* within) {
  AssignQuestion question{turn->ask, turn->leaf, {}, {}, within, Replaced(*turn)};
  if (!within) question.progress = in_.waiting_.at(turn->gang).progress;
  turn->assignment = assigner_.Assign(question);
  turn->victims = FindVictims(*turn, turn->assignment);
  if (turn->assignment.fit() != Fit::kNow && turn->victims.empty() && MayShrink(*turn->ask))
    AssignFewer(std::move(question), turn);
}

void KueueCycle::AssignFewer(AssignQuestion question, Turn* turn) {
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

std::vector<Victim> KueueCycle::FindVictims(Preemptor preemptor) const {
  preemptor.spares =
      in_.displaced_.Before(in_.shares_.Root(preemptor.leaf), preemptor.uid, preemptor.leaf, preemptor.priority);
  return in_.rules_.fair_sharing ? FindFairVictims(in_.arena_, preemptor, in_.rules_.strategies)
                                 : FindClassicVictims(in_.arena_, preemptor);
}

std::vector<Victim> KueueCycle::FindVictims(const Turn& turn, const Assignment& assignment) const {
  if (assignment.fit() != Fit::kPreempt) return {};
  return FindVictims({turn.ask->uid, turn.leaf, turn.ask->priority, turn.ask->queued_ms, assignment.usage,
                      assignment.CellsToPreempt()});
}

bool KueueCycle::Overlaps(const Turn& turn) const {
  return std::ranges::any_of(turn.victims, [this](const Victim& v) { return leaving_.contains(v.gang); });
}

bool KueueCycle::FitsAfterVictims(const Turn& turn) const {
  const Ledger::Mark mark = in_.ledger_.Here();
  for (const auto& [gang, holding] : leaving_) in_.ledger_.Release(in_.holdings_.ChargeOf(*holding));
  for (const Victim& victim : turn.victims)
    if (!leaving_.contains(victim.gang)) in_.ledger_.Release(in_.holdings_.ChargeOf(*in_.holdings_.Find(victim.gang)));
  const bool fits = in_.shares_.Fits(turn.leaf, turn.assignment.usage);
  in_.ledger_.Rewind(mark);
  return fits;
}

// Its victims leave for another one, too: it may need fewer, or others. It keeps to the flavors that it had.
void KueueCycle::AssignAnew(Turn* turn) {
  const Assignment before = turn->assignment;
  const Ledger::Mark mark = in_.ledger_.Here();
  for (const auto& [gang, holding] : leaving_) {
    in_.ledger_.Release(in_.holdings_.ChargeOf(*holding));
    in_.arena_.gone.insert(gang);
  }
  Assign(turn, &before);
  in_.arena_.gone.clear();
  in_.ledger_.Rewind(mark);
  if (turn->assignment.fit() == Fit::kNow) turn->assignment.deferred = true;
}

void KueueCycle::Consider(Turn* turn) {
  if (Overlaps(*turn)) AssignAnew(turn);
  const Assignment& assignment = turn->assignment;
  const Fit fit = assignment.fit();
  in_.waiting_.at(turn->gang).progress.clear();
  // Where a flavor before had quota and no nodes, nodes may still help.
  if (turn->before.empty()) in_.waiting_.at(turn->gang).lacks_nodes = false;
  if (fit == Fit::kNone) {
    if (!turn->before.empty()) in_.scanned_.insert(turn->gang);
    return Refuse(*turn, assignment.no_fit, assignment.Message(), true);
  }
  if (fit == Fit::kPreempt && turn->victims.empty()) return RefuseWithoutVictims(*turn);
  if (fit == Fit::kDeferred) {
    Charge(*turn, assignment.usage);
    return Refuse(*turn, WaitReason::kWaitingForPreemptedWorkloads,
                  "Workload has overlapping preemption targets with another workload, but will fit after these "
                  "preemptions complete",
                  false);
  }
  if (Overlaps(*turn))
    return Refuse(*turn, WaitReason::kWaitingForQuota,
                  "Workload has overlapping preemption targets with another workload", false);
  if (!FitsAfterVictims(*turn))
    return Refuse(*turn, WaitReason::kWaitingForQuota, "Workload no longer fits after processing another workload",
                  false);
  if (fit == Fit::kPreempt && in_.nodes_.would_place)
    if (std::string why = in_.nodes_.would_place(turn->gang, assignment, turn->victims); !why.empty())
      if (!FindVictimsOnNodes(turn, assignment.CellsToPreempt())) return RefuseWithoutNodes(*turn, std::move(why));
  Charge(*turn, assignment.usage);
  if (fit == Fit::kPreempt) return Preempt(turn, assignment.Message());
  admitted_.push_back(std::move(*turn));
}

// Each resource alone could be had, but not all together: there may be later flavors to look at in the next cycle.
void KueueCycle::RefuseWithoutVictims(const Turn& turn) {
  Reserve(turn);
  const bool left = NextFlavors(turn);
  if (!left) in_.scanned_.insert(turn.gang);
  Refuse(turn, WaitReason::kWaitingForQuota, turn.assignment.Message(), !left);
}

void KueueCycle::Refuse(const Turn& turn, WaitReason reason, std::string message, bool may_pass) {
  if (in_.Spares(*turn.ask, turn.leaf)) in_.displaced_.NoteSparing(in_.shares_.Root(turn.leaf), turn.gang);
  WaitExplanation& why = in_.waiting_.at(turn.gang).why;
  WaitExplanation now{reason, std::move(message)};
  if (why != now) result_->refused.insert(turn.gang);
  why = std::move(now);
  if (!may_pass || in_.shares_.leaf(turn.leaf).strategy == model::QueueingStrategy::kStrictFifo) return;
  for (const model::GangId like : in_.lines_.StandAside(turn.gang, LackedBy(turn), why))
    if (in_.waiting_.contains(like)) result_->refused.insert(like);
  progress_ = true;
}

std::vector<CellId> KueueCycle::LackedBy(const Turn& turn) const {
  std::vector<CellId> cells = turn.assignment.ShortCells();
  if (turn.before.empty()) return cells;
  for (const model::ResourceGroup& group : in_.shares_.leaf(turn.leaf).groups)
    for (const model::FlavorQuota& flavor : group.flavors)
      for (const std::string& resource : group.resources)
        if (const CellId cell = in_.shares_.cells().Find(flavor.flavor, resource); cell.valid()) cells.push_back(cell);
  std::ranges::sort(cells);
  cells.erase(std::ranges::unique(cells).begin(), cells.end());
  return cells;
}

bool KueueCycle::NextFlavors(const Turn& turn) {
  FlavorProgress next = turn.assignment.Progress();
  if (!LeavesFlavors(next) || HasGoneRound(turn.before, next)) return false;
  progress_ = progress_ || (next != turn.before && !in_.scanned_.contains(turn.gang));
  Waiting& waiting = in_.waiting_.at(turn.gang);
  waiting.progress = std::move(next);
  waiting.nodes_epoch = in_.nodes_epoch_;
  return true;
}

// Where the search stands where it began, it would end here again.
void KueueCycle::RefuseWithoutNodes(const Turn& turn, std::string why) {
  Waiting& waiting = in_.waiting_.at(turn.gang);
  const bool ends = turn.assignment.Progress() == turn.before || !NextFlavors(turn);
  if (ends) in_.scanned_.insert(turn.gang);
  waiting.lacks_nodes = true;
  waiting.nodes_epoch = in_.nodes_epoch_;
  Refuse(turn, WaitReason::kTopologyPlacementFailed, std::move(why), ends);
}

void KueueCycle::Reserve(const Turn& turn) {
  if (in_.shares_.leaf(turn.leaf).preemption.within_cohort == model::PreemptionPolicy::kAny) return;
  CellAmounts reserved;
  for (const auto& [cell, amount] : turn.assignment.usage) {
    const model::CellQuota quota = in_.shares_.Quota(turn.leaf, cell);
    int64_t most = model::SaturatingSub(quota.nominal, in_.shares_.Used(turn.leaf, cell));
    if (turn.assignment.borrowing > 0)
      most = quota.borrowing_limit ? model::SaturatingAdd(most, *quota.borrowing_limit) : amount;
    AddTo(reserved, cell, std::min(amount, most));
  }
  Charge(turn, reserved);
}

// Should others take what its victims have left, again and again, it waits for a while.
bool KueueCycle::MayEvict(const Turn& turn) {
  constexpr base::Millis kWithinMs = 1'000;
  constexpr int kMost = 8;
  const bool all_leave = std::ranges::all_of(
      turn.victims, [this](const Victim& victim) { return in_.holdings_.Find(victim.gang)->evicted; });
  if (all_leave) return true;
  Waiting& waiting = in_.waiting_.at(turn.gang);
  if (in_.now_ >= waiting.evicts_since_ms + kWithinMs) {
    waiting.evicts_since_ms = in_.now_;
    waiting.evicts = 0;
  }
  return ++waiting.evicts <= kMost;
}

void KueueCycle::Preempt(Turn* turn, const std::string& why) {
  if (!MayEvict(*turn)) {
    // Where it lacks no quota, no release of quota brings it back.
    if (turn->assignment.ShortCells().empty()) return RefuseWithoutNodes(*turn, why);
    return Refuse(*turn, WaitReason::kWaitingForQuota, why, true);
  }
  if (in_.nodes_.keep) in_.nodes_.keep(turn->gang);
  for (const Victim& victim : turn->victims) {
    const Holding* holding = in_.holdings_.Find(victim.gang);
    leaving_.emplace(victim.gang, holding);
    if (holding->evicted) continue;
    progress_ = true;
    in_.displaced_.Note(in_.shares_.Root(turn->leaf), *holding, turn->ask->uid);
    result_->evicted.push_back({victim.gang, turn->gang, victim.reason});
  }
  Refuse(*turn, WaitReason::kWaitingForPreemptedWorkloads,
         fmt::format("{}. Pending the preemption of {} workload(s)", why, turn->victims.size()), false);
  if (in_.shares_.leaf(turn->leaf).strategy == model::QueueingStrategy::kBestEffortFifo)
    in_.lines_.PutFirst(turn->gang);
}

void KueueCycle::Charge(const Turn& turn, const CellAmounts& amounts) {
  Ask ask(in_.shares_.cells(), amounts);
  if (ask.empty()) return;
  in_.ledger_.Charge(turn.leaf, std::move(ask));
  turns_->Charged();
}

void KueueCycle::Commit() {
  for (Turn& turn : admitted_) {
    const Holding* old = Replaced(turn);
    // What it is a larger form of may have to leave for another; and with several of them it may be that all fit only
    // once the victims of others have left.
    if (!(old && leaving_.contains(old->gang)) && in_.shares_.Fits(turn.leaf, turn.assignment.usage))
      PlaceAndCommit(&turn);
    else
      Refuse(turn, WaitReason::kWaitingForPreemptedWorkloads,
             "Workload no longer fits after processing another workload", false);
  }
  for (const auto& [gang, holding] : leaving_) in_.Evict(gang, true);
}

// Its nodes are taken at once, so that the next one sees them taken.
void KueueCycle::PlaceAndCommit(Turn* turn) {
  std::string why = in_.nodes_.place ? in_.nodes_.place(turn->gang, turn->assignment) : std::string();
  if (!why.empty() && MayShrink(*turn->ask) && FindNodesForFewer(turn))
    why = in_.nodes_.place(turn->gang, turn->assignment);
  if (why.empty()) return CommitOne(turn);
  if (!LeavesFlavors(turn->assignment.Progress()) && FindVictimsOnNodes(turn, turn->assignment.Cells()))
    Preempt(turn, why);
  else
    RefuseWithoutNodes(*turn, std::move(why));
}

bool KueueCycle::FindVictimsOnNodes(Turn* turn, std::vector<CellId> short_cells) {
  if (!in_.nodes_.would_place) return false;
  const model::GangAsk& ask = *turn->ask;
  const Assignment& assignment = turn->assignment;
  std::vector<Victim> victims = FindVictims(
      {ask.uid, turn->leaf, ask.priority, ask.queued_ms, assignment.usage, std::move(short_cells),
       [&](const std::vector<Victim>& gone) { return in_.nodes_.would_place(turn->gang, assignment, gone).empty(); }});
  const bool overlaps = std::ranges::any_of(victims, [this](const Victim& v) { return leaving_.contains(v.gang); });
  if (victims.empty() || overlaps) return false;
  turn->victims = std::move(victims);
  return true;
}

bool KueueCycle::FindNodesForFewer(Turn* turn) {
  Assignment fewer = turn->assignment;
  const auto found = LargestCounts(*turn->ask, [&](const std::vector<int64_t>& counts) {
    Assignment assignment = assigner_.Assign({turn->ask, turn->leaf, counts, {}, &turn->assignment, Replaced(*turn)});
    if (assignment.fit() != Fit::kNow || !in_.nodes_.would_place(turn->gang, assignment, {}).empty()) return false;
    fewer = std::move(assignment);
    return true;
  });
  if (found) turn->assignment = std::move(fewer);
  return found.has_value();
}

void KueueCycle::CommitOne(Turn* turn) {
  progress_ = true;
  const model::GangAsk ask = *turn->ask;
  const std::string local = in_.waiting_.at(turn->gang).local;
  const Holding* old = Replaced(*turn);
  const model::GangId replaces = old ? old->gang : model::GangId();
  in_.shares_.HoldLeaf(in_.shares_.leaf(turn->leaf).name);  // while neither a line nor a charge does
  in_.ReleaseQuota(turn->gang, in_.now_);
  in_.StopWaiting(turn->gang);
  if (old) in_.ReleaseQuota(replaces, in_.now_);
  model::ResourceList requests;
  for (const RoleAssignment& role : turn->assignment.roles) requests.AddAll(role.requests);
  in_.usage_.Take(local, requests, in_.now_);
  in_.usage_.CountAdmission(local, requests);
  in_.holdings_.Put({turn->gang, ask.uid, local, turn->leaf, ask.priority, ask.queued_ms, in_.now_, false, false,
                     turn->assignment.roles, Ask(in_.shares_.cells(), turn->assignment.total)});
  in_.RetryAll(in_.displaced_.NoteAdmitted(in_.shares_.Root(turn->leaf), ask.uid));
  result_->refused.erase(turn->gang);
  result_->admitted.push_back(
      {turn->gang, in_.shares_.name(turn->leaf), std::move(turn->assignment), in_.now_, replaces});
  in_.shares_.ReleaseLeaf(turn->leaf);
}

}  // namespace tutti::queue
