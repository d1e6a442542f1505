// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "queue/policies/kueue/partial.h"

namespace tutti::queue {

KueueCycle::KueueCycle(KueueAdmission& admission, const std::vector<QueueId>& leaves, PassResult* result)
    : in_(admission),
      leaves_(leaves),
      result_(result),
      bids_(in_, in_.nodes_) {}

bool KueueCycle::Run() {
  const auto acts = [this] { return result_->admitted.size() + result_->evicted.size(); };
  const size_t before = acts();
  std::vector<Turn> nominated = Nominate();
  const bool tries = !nominated.empty();
  Turns turns(in_.arena_, std::move(nominated), in_.rules_.fair_sharing);
  turns_ = &turns;
  const Ledger::Mark mark = in_.ledger_.Here();
  while (Turn* turn = turns.Next()) Consider(turn);
  in_.ledger_.Rewind(mark);
  Commit();
  if (tries) ++(acts() > before ? result_->fruitful : result_->fruitless);
  return progress_;
}

std::vector<Turn> KueueCycle::Nominate() {
  std::vector<Turn> turns;
  const auto usage = [this](const std::string& local) { return in_.usage_.Of(local, in_.now_); };
  for (const QueueId leaf : leaves_) {
    const auto gang = in_.lines_.First(leaf, usage);
    if (!gang || !in_.IsActive(leaf)) continue;
    Waiting& waiting = in_.waiting_.at(*gang);
    if (waiting.nodes_epoch != in_.nodes_epoch_) {
      waiting.progress.clear();
      waiting.no_nodes.clear();
    }
    if (waiting.lacks_nodes && waiting.progress.empty() && waiting.nodes_epoch == in_.nodes_epoch_ &&
        in_.shares_.leaf(leaf).strategy == model::QueueingStrategy::kStrictFifo)
      continue;
    Turn turn{*gang, leaf, &waiting.ask, {}, {}, waiting.progress};
    if (!waiting.ask.problem.empty()) {
      Refuse(turn, {WaitReason::kMisconfigured, waiting.ask.problem}, true);
      continue;
    }
    // Its pods run on the quota of that one.
    if (in_.holdings_.Find(*gang) && !bids_.Replaced(turn)) {
      Refuse(turn, {WaitReason::kMisconfigured, "it has quota in another queue"}, true);
      continue;
    }
    bids_.Assign(&turn, nullptr);
    turns.push_back(std::move(turn));
  }
  return turns;
}

void KueueCycle::Consider(Turn* turn) {
  using enum Bids::Outcome;
  const Bids::Outcome outcome = bids_.Judge(turn);
  const Assignment& assignment = turn->assignment;
  in_.waiting_.at(turn->gang).progress.clear();
  // Where a flavor before had quota and no nodes, nodes may still help.
  Waiting& waiting = in_.waiting_.at(turn->gang);
  if (turn->before.empty() && waiting.no_nodes.empty()) waiting.lacks_nodes = false;
  if (!waiting.no_nodes.empty() && (outcome == kNoVictims || outcome == kNoQuota)) {
    in_.scanned_.insert(turn->gang);
    return Refuse(*turn, {WaitReason::kTopologyPlacementFailed, waiting.why_no_nodes}, true);
  }
  if (outcome == kNoVictims) return RefuseWithoutVictims(*turn);
  if (outcome == kNoQuota && !turn->before.empty()) in_.scanned_.insert(turn->gang);
  if (outcome == kWillFit) Charge(*turn, assignment.usage);
  if (outcome != kHasQuota) return Refuse(*turn, Bids::WhyOf(outcome, assignment), outcome == kNoQuota);
  const bool preempts = assignment.fit() == Fit::kPreempt;
  if (preempts && in_.nodes_.would_place)
    if (std::string why = in_.nodes_.would_place(turn->gang, assignment, turn->victims); !why.empty())
      if (!bids_.FindVictimsOnNodes(turn, assignment.CellsToPreempt()))
        return RefuseWithoutNodes(*turn, std::move(why));
  Charge(*turn, assignment.usage);
  if (preempts) return Preempt(turn, assignment.Message());
  admitted_.push_back(std::move(*turn));
}

// Each resource alone could be had, but not all together: there may be later flavors to look at in the next cycle.
void KueueCycle::RefuseWithoutVictims(const Turn& turn) {
  Charge(turn, bids_.Reserved(turn));
  const bool left = NextFlavors(turn);
  if (!left) in_.scanned_.insert(turn.gang);
  Refuse(turn, Bids::WhyOf(Bids::Outcome::kNoVictims, turn.assignment), !left);
}

void KueueCycle::Refuse(const Turn& turn, WaitExplanation now, bool may_pass) {
  if (in_.Spares(*turn.ask, turn.leaf)) in_.displaced_.NoteSparing(in_.shares_.Root(turn.leaf), turn.gang);
  WaitExplanation& why = in_.waiting_.at(turn.gang).why;
  if (why != now) result_->refused.insert(turn.gang);
  why = std::move(now);
  if (!may_pass || in_.shares_.leaf(turn.leaf).strategy == model::QueueingStrategy::kStrictFifo) return;
  for (const model::GangId like : in_.lines_.StandAside(turn.gang, LackedBy(turn), why))
    if (in_.waiting_.contains(like)) result_->refused.insert(like);
  progress_ = true;
}

std::vector<CellId> KueueCycle::LackedBy(const Turn& turn) const {
  std::vector<CellId> cells = turn.assignment.ShortCells();
  if (turn.before.empty() && in_.waiting_.at(turn.gang).no_nodes.empty()) return cells;
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

// Where another flavor is left once those are passed over that have no nodes.
bool KueueCycle::TriesOthers(const Turn& turn) {
  std::set<std::string>& no_nodes = in_.waiting_.at(turn.gang).no_nodes;
  bool others = false, more = false;
  for (const RoleAssignment& role : turn.assignment.roles)
    for (const auto& [resource, pick] : role.picks) more = no_nodes.insert(pick.flavor).second || more;
  for (const model::ResourceGroup& group : in_.shares_.leaf(turn.leaf).groups)
    for (const model::FlavorQuota& flavor : group.flavors) others = others || !no_nodes.contains(flavor.flavor);
  if (!more || !others) no_nodes.clear();
  return more && others;
}

// Where the search stands where it began, it would end here again.
void KueueCycle::RefuseWithoutNodes(const Turn& turn, std::string why) {
  Waiting& waiting = in_.waiting_.at(turn.gang);
  bool ends = turn.assignment.Progress() == turn.before || !NextFlavors(turn);
  if (ends && TriesOthers(turn)) {
    waiting.why_no_nodes = why;
    progress_ = true;
    ends = false;
  }
  if (ends) in_.scanned_.insert(turn.gang);
  waiting.lacks_nodes = true;
  waiting.nodes_epoch = in_.nodes_epoch_;
  Refuse(turn, {WaitReason::kTopologyPlacementFailed, std::move(why)}, ends);
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
    return Refuse(*turn, {WaitReason::kWaitingForQuota, why}, true);
  }
  if (in_.nodes_.keep) in_.nodes_.keep(turn->gang);
  for (const Victim& victim : turn->victims) {
    const Holding* holding = in_.holdings_.Find(victim.gang);
    bids_.AddLeaving(*holding);
    if (holding->evicted) continue;
    progress_ = true;
    in_.displaced_.Note(in_.shares_.Root(turn->leaf), *holding, turn->ask->uid);
    result_->evicted.push_back({victim.gang, turn->gang, victim.reason});
  }
  Refuse(*turn,
         {WaitReason::kWaitingForPreemptedWorkloads,
          fmt::format("{}. Pending the preemption of {} workload(s)", why, turn->victims.size())},
         false);
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
    const Holding* old = bids_.Replaced(turn);
    // What it is a larger form of may have to leave for another; and with several of them it may be that all fit only
    // once the victims of others have left.
    if (!(old && bids_.leaving().contains(old->gang)) && in_.shares_.Fits(turn.leaf, turn.assignment.usage))
      PlaceAndCommit(&turn);
    else
      Refuse(turn, {WaitReason::kWaitingForPreemptedWorkloads, kNoLongerFits}, false);
  }
  for (const auto& [gang, holding] : bids_.leaving()) in_.Evict(gang, true);
}

// Its nodes are taken at once, so that the next one sees them taken.
void KueueCycle::PlaceAndCommit(Turn* turn) {
  std::string why = in_.nodes_.place ? in_.nodes_.place(turn->gang, turn->assignment) : std::string();
  if (!why.empty() && MayShrink(*turn->ask) && bids_.FindNodesForFewer(turn))
    why = in_.nodes_.place(turn->gang, turn->assignment);
  if (why.empty()) return CommitOne(turn);
  if (!LeavesFlavors(turn->assignment.Progress()) && bids_.FindVictimsOnNodes(turn, turn->assignment.Cells()))
    Preempt(turn, why);
  else
    RefuseWithoutNodes(*turn, std::move(why));
}

void KueueCycle::CommitOne(Turn* turn) {
  progress_ = true;
  const model::GangAsk ask = *turn->ask;
  const std::string local = in_.waiting_.at(turn->gang).local;
  const Holding* old = bids_.Replaced(*turn);
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
