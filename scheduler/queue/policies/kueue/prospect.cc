// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/prospect.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "queue/policies/kueue/bids.h"
#include "queue/policies/kueue/partial.h"

namespace tutti::queue {
namespace {

// So many cycles a gang has at most to try its flavors.
constexpr int kMostCycles = 64;

KueueProspect::Answer Waits(WaitReason reason, std::string message) { return {{}, {}, {reason, std::move(message)}}; }

KueueProspect::Answer Has(Turn* turn, std::vector<Victim> victims) {
  return {std::move(turn->assignment), std::move(victims), {WaitReason::kNone, {}}};
}

// Where the search stands where it began, it would end here again.
void GoOn(const Turn& turn, FlavorProgress* next) {
  FlavorProgress now = turn.assignment.Progress();
  if (now != turn.before && LeavesFlavors(now) && !HasGoneRound(turn.before, now)) *next = std::move(now);
}

}  // namespace

// The tree alone learns of the change, so that no gang is woken.
KueueProspect::KueueProspect(KueueAdmission& admission, const std::optional<model::LeafQueueSpec>& changed)
    : in_(admission), mark_(admission.ledger_.Here()) {
  if (!changed) return;
  before_ = in_.shares_.leaf(in_.shares_.Leaf(changed->name));
  in_.shares_.Put(*changed);
}

KueueProspect::~KueueProspect() {
  in_.arena_.gone.clear();
  in_.ledger_.Rewind(mark_);
  if (before_) in_.shares_.Put(*std::move(before_));
}

KueueProspect::Scope::~Scope() {
  for (; of_.freed_.size() > freed_; of_.freed_.pop_back()) of_.in_.arena_.gone.erase(of_.freed_.back());
  of_.given_.resize(given_);
  of_.waits_ = std::move(waits_);
  of_.in_.ledger_.Rewind(mark_);
}

KueueProspect::Answer KueueProspect::Ask(model::GangId gang, const model::GangAsk& ask, const NodeRules& nodes) {
  if (auto barred = in_.WhyBarred(ask)) return {{}, {}, *std::move(barred)};
  const QueueId leaf = in_.shares_.Leaf(in_.local(ask.ns, ask.local_queue)->queue);
  if (!in_.IsActive(leaf)) return {{}, {}, in_.WhyInactive(leaf)};
  if (!ask.problem.empty()) return Waits(WaitReason::kMisconfigured, ask.problem);
  const LineRank rank{ask.priority, ask.queued_ms, ask.uid};
  if (HasOneAhead(fmt::format("{}/{}", ask.ns, ask.local_queue), leaf, rank))
    return Waits(WaitReason::kPendingEvaluation,
                 fmt::format("Others that wait in ClusterQueue {} have their turn before it", in_.shares_.name(leaf)));
  Answer answer;
  FlavorProgress from, next;
  for (int i = 0; i < kMostCycles; ++i) {
    answer = TakeTurn({gang, leaf, &ask, {}, {}, from}, nodes, &next);
    if (next.empty()) break;
    from = std::exchange(next, {});
  }
  if (answer.assignment)
    Take(gang, leaf, answer);
  else if (in_.shares_.leaf(leaf).strategy == model::QueueingStrategy::kStrictFifo)
    waits_.try_emplace(leaf, rank);
  return answer;
}

bool KueueProspect::HasOneAhead(const std::string& local, QueueId leaf, const LineRank& rank) const {
  const auto usage = [this](const std::string& of) { return in_.usage_.Of(of, in_.now_); };
  const bool asks_whole_line = before_ && in_.shares_.leaf(leaf).name == before_->name;
  if (!asks_whole_line && in_.lines_.Ahead(leaf, rank, local, usage)) return true;
  const auto asked = waits_.find(leaf);
  return asked != waits_.end() && asked->second < rank;
}

KueueProspect::Answer KueueProspect::TakeTurn(Turn asked, const NodeRules& nodes, FlavorProgress* next) {
  const model::GangId gang = asked.gang;
  const Ledger::Mark mark = in_.ledger_.Here();
  Bids bids(in_, nodes);
  Turns turns(in_.arena_, Nominate(std::move(asked), bids), in_.rules_.fair_sharing);
  Turn* turn = turns.Next();
  for (; turn->gang != gang; turn = turns.Next()) {
    Pass(turn, &bids);
    turns.Charged();
  }
  Answer answer = Decide(turn, bids, nodes, next);
  in_.ledger_.Rewind(mark);
  return answer;
}

std::vector<Turn> KueueProspect::Nominate(Turn asked, const Bids& bids) {
  const auto usage = [this](const std::string& local) { return in_.usage_.Of(local, in_.now_); };
  std::vector<Turn> turns;
  for (const QueueId leaf : in_.shares_.LeavesBelow(in_.shares_.Root(asked.leaf))) {
    if (leaf == asked.leaf || !in_.IsActive(leaf)) continue;
    const auto first = in_.lines_.First(leaf, usage);
    if (!first) continue;
    const KueueAdmission::Waiting& waiting = in_.waiting_.at(*first);
    Turn turn{*first, leaf, &waiting.ask, {}, {}, waiting.progress};
    const bool has_turn = waiting.ask.problem.empty() && !waiting.lacks_nodes &&
                          (!in_.holdings_.Find(*first) || bids.Replaced(turn));
    if (!has_turn) continue;
    Assign(&turn, bids);
    turns.push_back(std::move(turn));
  }
  Assign(&asked, bids);
  turns.push_back(std::move(asked));
  return turns;
}

void KueueProspect::Assign(Turn* turn, const Bids& bids) {
  bids.Assign(turn, nullptr);
  ++looks_;
  if (turn->assignment.fit() != Fit::kNow) looks_ += static_cast<int64_t>(in_.holdings_.size());
}

void KueueProspect::Pass(Turn* turn, Bids* bids) {
  using enum Bids::Outcome;
  const Bids::Outcome outcome = bids->Judge(turn);
  CellAmounts amounts;
  if (outcome == kNoVictims) amounts = bids->Reserved(*turn);
  if (outcome == kWillFit || outcome == kHasQuota) amounts = turn->assignment.usage;
  if (outcome == kHasQuota && turn->assignment.fit() == Fit::kPreempt)
    for (const Victim& victim : turn->victims) bids->AddLeaving(*in_.holdings_.Find(victim.gang));
  if (queue::Ask ask(in_.shares_.cells(), amounts); !ask.empty()) in_.ledger_.Charge(turn->leaf, std::move(ask));
}

KueueProspect::Answer KueueProspect::Decide(Turn* turn, const Bids& bids, const NodeRules& nodes,
                                            FlavorProgress* next) {
  const Bids::Outcome outcome = bids.Judge(turn);
  if (outcome == Bids::Outcome::kHasQuota) return SeekNodes(turn, bids, nodes, next);
  if (outcome == Bids::Outcome::kNoVictims) GoOn(*turn, next);
  return {{}, {}, Bids::WhyOf(outcome, turn->assignment)};
}

KueueProspect::Answer KueueProspect::SeekNodes(Turn* turn, const Bids& bids, const NodeRules& nodes,
                                               FlavorProgress* next) {
  const auto has_nodes = [&] { return nodes.place(turn->gang, turn->assignment).empty(); };
  std::string why;
  if (turn->assignment.fit() == Fit::kPreempt) {
    if (nodes.would_place) why = nodes.would_place(turn->gang, turn->assignment, turn->victims);
    if (why.empty() || bids.FindVictimsOnNodes(turn, turn->assignment.CellsToPreempt()))
      return Has(turn, std::move(turn->victims));
  } else {
    if (nodes.place) why = nodes.place(turn->gang, turn->assignment);
    if (why.empty()) return Has(turn, {});
    if (MayShrink(*turn->ask) && bids.FindNodesForFewer(turn) && has_nodes()) return Has(turn, {});
    if (!LeavesFlavors(turn->assignment.Progress()) && bids.FindVictimsOnNodes(turn, turn->assignment.Cells()))
      return Has(turn, std::move(turn->victims));
  }
  GoOn(*turn, next);
  return Waits(WaitReason::kTopologyPlacementFailed, std::move(why));
}

void KueueProspect::Take(model::GangId gang, QueueId leaf, const Answer& answer) {
  for (const Victim& victim : answer.victims) Free(victim.gang);
  if (queue::Ask ask(in_.shares_.cells(), answer.assignment->usage); !ask.empty())
    given_.emplace_back(gang, in_.ledger_.Charge(leaf, std::move(ask)));
}

void KueueProspect::Free(model::GangId gang) {
  in_.ledger_.Release(in_.holdings_.ChargeOf(*in_.holdings_.Find(gang)));
  in_.arena_.gone.insert(gang);
  freed_.push_back(gang);
}

void KueueProspect::End(model::GangId gang) {
  const auto given = std::ranges::find(given_, gang, &std::pair<model::GangId, ChargeId>::first);
  if (given != given_.end())
    in_.ledger_.Release(given->second);
  else if (in_.holdings_.Find(gang) && !in_.arena_.gone.contains(gang))
    Free(gang);
}

}  // namespace tutti::queue
