// SPDX-License-Identifier: Apache-2.0
// The rule that goes by quota and priority.
//
// Candidates are of three kinds, in this order: those that use quota of a subtree in which the preemptor would be
// within quota; those of other queues over their quota; those of its own queue.
#include <algorithm>
#include <array>
#include <optional>

#include "model/quantity.h"
#include "queue/policies/kueue/candidates.h"

namespace tutti::queue {
namespace {

enum Kind { kHierarchical, kByPriority, kOwnQueue, kKinds };

class ClassicSearch {
 public:
  ClassicSearch(const PreemptionArena& arena, const Preemptor& preemptor)
      : arena_(arena), shares_(arena.shares), preemptor_(preemptor), rules_(shares_.leaf(preemptor.leaf).preemption) {
    if (rules_.within_queue != model::PreemptionPolicy::kNever) leaves_[kOwnQueue].push_back(preemptor.leaf);
    if (rules_.within_cohort != model::PreemptionPolicy::kNever) CollectLeaves();
  }

  std::vector<Victim> Run() {
    const bool hierarchical = Any(kHierarchical), others = hierarchical || Any(kByPriority);
    std::vector<bool> attempts{true, false};  // whether the preemptor may borrow when the victims are gone
    if (!others || (!rules_.while_borrowing && !IsUnderNominal()))
      attempts = {true};
    else if (!rules_.while_borrowing && !hierarchical)
      attempts = {false, true};
    for (const bool borrowing : attempts)
      if (std::vector<Victim> victims = Attempt(borrowing); !victims.empty()) return victims;
    return {};
  }

 private:
  // Which leaves are above their quota, from the nearest subtree outwards.
  void CollectLeaves() {
    CellAmounts left = preemptor_.wants;
    bool advantage = FitsQuota(preemptor_.leaf, &left);
    QueueId done = preemptor_.leaf;
    for (QueueId at = shares_.parent(preemptor_.leaf); at.valid(); at = shares_.parent(at)) {
      CollectBelow(at, done, &leaves_[advantage ? kHierarchical : kByPriority]);
      advantage = FitsQuota(at, &left) || advantage;
      done = at;
    }
  }

  bool FitsQuota(QueueId queue, CellAmounts* left) const {
    bool fits = true;
    for (auto& [cell, amount] : *left) {
      fits = fits && !shares_.Exceeds(queue, cell, amount);
      amount = std::max<int64_t>(0, model::SaturatingSub(amount, shares_.KeptFree(queue, cell)));
    }
    return fits;
  }

  void CollectBelow(QueueId top, QueueId done, std::vector<QueueId>* leaves) const {
    std::vector<QueueId> open{top};
    while (!open.empty()) {
      const QueueId at = open.back();
      open.pop_back();
      if (shares_.is_leaf(at)) leaves->push_back(at);
      for (const QueueId child : shares_.Children(at))
        if (child != done && !shares_.IsWithin(child, preemptor_.short_cells)) open.push_back(child);
    }
  }

  model::PreemptionPolicy PolicyOf(Kind kind) const {
    return kind == kOwnQueue ? rules_.within_queue : rules_.within_cohort;
  }

  bool Any(Kind kind) const {
    return MergedCandidates(arena_, preemptor_, leaves_[kind], PolicyOf(kind), LeafCandidates::Part::kAll).Peek();
  }

  bool IsUnderNominal() const {
    return std::ranges::all_of(preemptor_.short_cells, [&](CellId cell) {
      return shares_.Used(preemptor_.leaf, cell) < shares_.Quota(preemptor_.leaf, cell).nominal;
    });
  }

  std::vector<Victim> Attempt(bool borrowing) const {
    Trial trial(arena_, preemptor_, [&] { return shares_.Fits(preemptor_.leaf, preemptor_.wants, borrowing); });
    for (const auto part : {LeafCandidates::Part::kEvicted, LeafCandidates::Part::kStaying})
      for (const Kind kind : {kHierarchical, kByPriority, kOwnQueue}) {
        MergedCandidates candidates(arena_, preemptor_, leaves_[kind], PolicyOf(kind), part);
        for (; const Holding* holding = candidates.Peek(); candidates.Pop()) {
          const auto reason = ReasonFor(*holding, kind, borrowing);
          if (!reason || (kind != kOwnQueue && !StillExceeds(*holding))) continue;
          if (trial.TakeOut(*holding, *reason)) return trial.Trim();
        }
      }
    return trial.FitsWithAllGone() ? trial.Trim() : std::vector<Victim>();
  }

  std::optional<VictimReason> ReasonFor(const Holding& holding, Kind kind, bool borrowing) const {
    if (kind == kOwnQueue) return VictimReason::kInClusterQueue;
    if (kind == kHierarchical) return VictimReason::kInCohortReclamation;
    const auto& highest = rules_.highest_priority_while_borrowing;
    if (rules_.while_borrowing && holding.priority < preemptor_.priority && (!highest || holding.priority <= *highest))
      return VictimReason::kInCohortReclaimWhileBorrowing;
    if (borrowing) return std::nullopt;
    return VictimReason::kInCohortReclamation;
  }

  // Those that have left may have brought its queue, or one above it, down to its quota.
  bool StillExceeds(const Holding& holding) const {
    for (QueueId at = holding.leaf; at.valid() && !IsAbovePreemptor(at); at = shares_.parent(at))
      if (shares_.IsWithin(at, preemptor_.short_cells)) return false;
    return true;
  }

  bool IsAbovePreemptor(QueueId queue) const {
    for (QueueId at = preemptor_.leaf; at.valid(); at = shares_.parent(at))
      if (at == queue) return true;
    return false;
  }

  const PreemptionArena& arena_;
  const ShareTree& shares_;
  const Preemptor& preemptor_;
  const model::PreemptionRules& rules_;
  std::array<std::vector<QueueId>, kKinds> leaves_;
};

}  // namespace

std::vector<Victim> FindClassicVictims(const PreemptionArena& arena, const Preemptor& preemptor) {
  return ClassicSearch(arena, preemptor).Run();
}

}  // namespace tutti::queue
