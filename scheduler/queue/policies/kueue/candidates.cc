// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/candidates.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tutti::queue {

LeafCandidates::LeafCandidates(const PreemptionArena& arena, const Preemptor& preemptor, QueueId leaf,
                               model::PreemptionPolicy policy, Part part)
    : arena_(&arena), preemptor_(&preemptor), leaf_(leaf), policy_(policy) {
  const Holdings::Line& line = arena.holdings.Of(leaf);
  const auto first_staying = line.lower_bound(
      {true, std::numeric_limits<int32_t>::min(), std::numeric_limits<base::Millis>::min(), {}, nullptr});
  next_ = part == Part::kStaying ? first_staying : line.begin();
  end_ = part == Part::kEvicted ? first_staying : line.end();
  if (arena.shares.leaf(leaf).by_local_usage) SortByUsage();
}

bool LeafCandidates::MayTake(const Holding& holding) const {
  if (!holding.evicted && preemptor_->spares.contains(holding.uid)) return false;
  return preemptor_->MayTake(holding, policy_) && !arena_->gone.contains(holding.gang);
}

void LeafCandidates::SortByUsage() {
  for (; next_ != end_; ++next_)
    if (MayTake(*next_->holding)) found_.push_back(next_->holding);
  std::ranges::stable_sort(found_, [&](const Holding* a, const Holding* b) {
    if (a->evicted != b->evicted) return a->evicted;
    return a->local != b->local && arena_->local_usage(a->local) > arena_->local_usage(b->local);
  });
}

const Holding* LeafCandidates::Peek() {
  while (found_.empty() && next_ != end_) {
    const Holding* holding = next_->holding;
    if (!holding->evicted && !preemptor_->Reaches(holding->priority, policy_)) {
      next_ = end_;  // those that follow have a higher priority
      break;
    }
    ++next_;
    if (MayTake(*holding)) found_.push_back(holding);
  }
  return found_.empty() ? nullptr : found_.front();
}

bool GoesBefore(const Holding& a, const Holding& b, QueueId own) {
  const auto key = [own](const Holding& h) {
    return std::tuple(!h.evicted, h.leaf == own, h.priority, -h.reserved_ms);
  };
  if (key(a) != key(b)) return key(a) < key(b);
  return a.uid != b.uid ? a.uid < b.uid : a.gang < b.gang;
}

namespace {

auto Later(QueueId own) {
  return [own](LeafCandidates& a, LeafCandidates& b) { return GoesBefore(*b.Peek(), *a.Peek(), own); };
}

}  // namespace

MergedCandidates::MergedCandidates(const PreemptionArena& arena, const Preemptor& preemptor,
                                   std::span<const QueueId> leaves, model::PreemptionPolicy policy,
                                   LeafCandidates::Part part)
    : own_(preemptor.leaf) {
  for (const QueueId leaf : leaves) {
    LeafCandidates candidates(arena, preemptor, leaf, policy, part);
    if (candidates.Peek()) heap_.push_back(std::move(candidates));
  }
  std::ranges::make_heap(heap_, Later(own_));
}

const Holding* MergedCandidates::Peek() { return heap_.empty() ? nullptr : heap_.front().Peek(); }

void MergedCandidates::Pop() {
  std::ranges::pop_heap(heap_, Later(own_));
  heap_.back().Pop();
  if (heap_.back().Peek())
    std::ranges::push_heap(heap_, Later(own_));
  else
    heap_.pop_back();
}

}  // namespace tutti::queue
