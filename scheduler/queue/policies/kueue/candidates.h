// SPDX-License-Identifier: Apache-2.0
// Candidates: the gangs of one or several queues that a preemptor may take the place of, in the order in which they
// are to go. One thread.
//
// A queue keeps its gangs in that order, so that a search looks at no more of them than it takes out or has to pass by.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "queue/policies/kueue/preemption.h"

namespace tutti::queue {

// Those of one queue.
class LeafCandidates {
 public:
  enum class Part { kAll, kEvicted, kStaying };
  LeafCandidates(const PreemptionArena& arena, const Preemptor& preemptor, QueueId leaf, model::PreemptionPolicy policy,
                 Part part = Part::kAll);
  // These, and no others.
  LeafCandidates(QueueId leaf, std::deque<const Holding*> found) : leaf_(leaf), found_(std::move(found)) {}

  QueueId leaf() const { return leaf_; }
  // null: there is none left.
  const Holding* Peek();
  void Pop() { found_.pop_front(); }

 private:
  void SortByUsage();
  bool MayTake(const Holding& holding) const;

  const PreemptionArena* arena_ = nullptr;
  const Preemptor* preemptor_ = nullptr;
  QueueId leaf_;
  model::PreemptionPolicy policy_ = model::PreemptionPolicy::kNever;
  Holdings::Line::const_iterator next_{}, end_{};  // not looked at yet
  std::deque<const Holding*> found_;
};

// Says which of the two has to go first; those of `own` are the last.
bool GoesBefore(const Holding& a, const Holding& b, QueueId own);

// Those of several queues in one line.
class MergedCandidates {
 public:
  MergedCandidates(const PreemptionArena& arena, const Preemptor& preemptor, std::span<const QueueId> leaves,
                   model::PreemptionPolicy policy, LeafCandidates::Part part);

  const Holding* Peek();
  void Pop();

 private:
  std::vector<LeafCandidates> heap_;  // the one whose first goes first is at the front; none is empty
  QueueId own_;
};

}  // namespace tutti::queue
