// SPDX-License-Identifier: Apache-2.0
// The rule that goes by fair shares: the queue that borrows most gives first, as long as it does not become poorer than
// the preemptor's by it.
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <utility>

#include "queue/policies/kueue/candidates.h"

namespace tutti::queue {
namespace {

// The queues that have candidates, the one to give next first.
class Givers {
 public:
  Givers(const PreemptionArena& arena, const Preemptor& preemptor) : shares_(arena.shares), own_(preemptor.leaf) {
    for (QueueId at = own_; at.valid(); at = shares_.parent(at)) path_.insert(at);
  }

  void Add(LeafCandidates candidates) {
    const QueueId leaf = candidates.leaf();
    if (candidates.Peek()) lines_.try_emplace(leaf, std::move(candidates));
  }

  // Invalid: none has a candidate that may go.
  QueueId Next() {
    if (!shares_.parent(own_).valid()) return pruned_.contains(own_) || !Peek(own_) ? QueueId() : own_;
    const QueueId root = shares_.Root(own_);
    while (!pruned_.contains(root)) {
      QueueId at = root;
      while (at.valid() && !shares_.is_leaf(at)) at = NextBelow(at);
      if (at.valid()) return at;
    }
    return {};
  }

  const Holding* Peek(QueueId leaf) {
    if (const auto line = lines_.find(leaf); line != lines_.end())
      if (const Holding* holding = line->second.Peek()) return holding;
    return nullptr;
  }
  const Holding& Pop(QueueId leaf) {
    LeafCandidates& line = lines_.at(leaf);
    const Holding& holding = *line.Peek();
    line.Pop();
    return holding;
  }
  void Drop(QueueId leaf) { pruned_.insert(leaf); }
  bool empty() const { return lines_.empty(); }

  // The queue of `leaf`'s path that is a child of the lowest one that is on both paths.
  QueueId BelowCommon(QueueId leaf) const {
    QueueId at = leaf;
    while (!path_.contains(shares_.parent(at))) at = shares_.parent(at);
    return at;
  }
  QueueId OwnBelowCommon(QueueId leaf) const {
    const QueueId common = shares_.parent(BelowCommon(leaf));
    QueueId at = own_;
    while (shares_.parent(at) != common) at = shares_.parent(at);
    return at;
  }

 private:
  // Of the queues below `cohort` the one that borrows most; invalid when none may give, which is then true of the
  // cohort.
  QueueId NextBelow(QueueId cohort) {
    QueueId best;
    DominantShare most;
    for (const QueueId child : shares_.Children(cohort)) {
      if (pruned_.contains(child)) continue;
      const bool leaf = shares_.is_leaf(child);
      DominantShare share = shares_.Dominant(child);
      if ((!share.borrows() && !path_.contains(child)) || (leaf && !Peek(child))) {
        pruned_.insert(child);
        continue;
      }
      if (!best.valid() || IsBefore(child, share, best, most)) {
        best = child;
        most = std::move(share);
      }
    }
    if (!best.valid()) pruned_.insert(cohort);
    return best;
  }

  // Of equal shares a cohort comes first, then the leaf whose first candidate goes first.
  bool IsBefore(QueueId a, const DominantShare& share_a, QueueId b, const DominantShare& share_b) {
    if (const auto order = Compare(share_a, share_b); order != 0) return order > 0;
    const bool leaf_a = shares_.is_leaf(a), leaf_b = shares_.is_leaf(b);
    if (leaf_a != leaf_b) return leaf_b;
    return leaf_a && GoesBefore(*Peek(a), *Peek(b), own_);
  }

  const ShareTree& shares_;
  QueueId own_;
  absl::flat_hash_set<QueueId> path_;  // of the preemptor's queue, which is in it
  absl::flat_hash_set<QueueId> pruned_;
  absl::flat_hash_map<QueueId, LeafCandidates> lines_;
};

class FairSearch {
 public:
  FairSearch(const PreemptionArena& arena, const Preemptor& preemptor)
      : arena_(arena),
        shares_(arena.shares),
        preemptor_(preemptor),
        trial_(arena, preemptor, [this] { return HasQuota(); }) {
    // Shares are compared as they will be with the preemptor.
    own_ = arena_.ledger.Charge(preemptor_.leaf, Ask(shares_.cells(), preemptor_.wants));
  }

  std::vector<Victim> Run(Givers givers, const std::vector<FairStrategy>& strategies) {
    bool fits = TryFirst(givers, strategies[0]) || trial_.FitsWithAllGone();
    if (!fits && strategies.size() > 1) fits = TrySecond() || trial_.FitsWithAllGone();
    return fits ? trial_.Trim() : std::vector<Victim>();
  }

 private:
  bool TryFirst(Givers& givers, FairStrategy strategy) {
    const bool entitled = shares_.IsWithin(preemptor_.leaf, preemptor_.short_cells);
    for (QueueId leaf = givers.Next(); leaf.valid(); leaf = givers.Next()) {
      if (leaf == preemptor_.leaf || entitled) {
        const bool own = leaf == preemptor_.leaf;
        if (trial_.TakeOut(givers.Pop(leaf), own ? VictimReason::kInClusterQueue : VictimReason::kInCohortReclamation))
          return true;
        continue;
      }
      const DominantShare taker = shares_.Dominant(givers.OwnBelowCommon(leaf));
      const QueueId giver = givers.BelowCommon(leaf);
      const DominantShare before = shares_.Dominant(giver);
      while (givers.Peek(leaf)) {
        const Holding& holding = givers.Pop(leaf);
        if (!Allows(strategy, taker, before, giver, holding)) {
          passed_by_[leaf].push_back(&holding);
          continue;
        }
        if (trial_.TakeOut(holding, VictimReason::kInCohortFairSharing)) return true;
        break;  // another queue may borrow most now
      }
    }
    return false;
  }

  bool Allows(FairStrategy strategy, const DominantShare& taker, const DominantShare& before, QueueId giver,
              const Holding& holding) const {
    if (strategy == FairStrategy::kLessThanInitialShare) return Compare(taker, before) < 0;
    const Ledger::Mark mark = arena_.ledger.Here();
    arena_.ledger.Release(arena_.holdings.ChargeOf(holding));
    const DominantShare after = shares_.Dominant(giver);
    arena_.ledger.Rewind(mark);
    return Compare(taker, after) <= 0;
  }

  // Of those that the first strategy passed by, one of each queue that has more than the preemptor's will have.
  bool TrySecond() {
    Givers givers(arena_, preemptor_);
    for (auto& [leaf, holdings] : passed_by_) givers.Add(LeafCandidates(leaf, std::move(holdings)));
    for (QueueId leaf = givers.Next(); leaf.valid(); leaf = givers.Next()) {
      const DominantShare taker = shares_.Dominant(givers.OwnBelowCommon(leaf));
      const bool allowed = Compare(taker, shares_.Dominant(givers.BelowCommon(leaf))) < 0;
      if (allowed && trial_.TakeOut(givers.Pop(leaf), VictimReason::kInCohortFairSharing)) return true;
      givers.Drop(leaf);
    }
    return false;
  }

  // The preemptor's own charge is for comparing shares alone.
  bool HasQuota() const {
    const Ledger::Mark mark = arena_.ledger.Here();
    arena_.ledger.Release(own_);
    const bool has_quota = shares_.Fits(preemptor_.leaf, preemptor_.wants);
    arena_.ledger.Rewind(mark);
    return has_quota;
  }

  const PreemptionArena& arena_;
  const ShareTree& shares_;
  const Preemptor& preemptor_;
  Trial trial_;
  ChargeId own_;
  absl::flat_hash_map<QueueId, std::deque<const Holding*>> passed_by_;
};

}  // namespace

std::vector<Victim> FindFairVictims(const PreemptionArena& arena, const Preemptor& preemptor,
                                    const std::vector<FairStrategy>& strategies) {
  const model::PreemptionRules& rules = arena.shares.leaf(preemptor.leaf).preemption;
  Givers givers(arena, preemptor);
  if (rules.within_queue != model::PreemptionPolicy::kNever)
    givers.Add(LeafCandidates(arena, preemptor, preemptor.leaf, rules.within_queue));
  if (rules.within_cohort != model::PreemptionPolicy::kNever)
    for (const QueueId leaf : arena.shares.LeavesBelow(arena.shares.Root(preemptor.leaf)))
      if (leaf != preemptor.leaf && !arena.shares.IsWithin(leaf, preemptor.short_cells))
        givers.Add(LeafCandidates(arena, preemptor, leaf, rules.within_cohort));
  if (givers.empty()) return {};
  return FairSearch(arena, preemptor).Run(std::move(givers), strategies);
}

}  // namespace tutti::queue
