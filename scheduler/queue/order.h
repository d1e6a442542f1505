// SPDX-License-Identifier: Apache-2.0
// Order: which gang is next of those that are ready. One line a leaf queue, and a tournament up the trees. One
// thread.
#pragma once

#include "queue/tournament.h"

namespace tutti::queue {

class Order {
 public:
  // `tree` must outlive this.
  explicit Order(const QueueTree& tree) : tournament_(tree, ranks_) {}
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;

  // Adds the gang to the line of its queue, or moves it there.
  void Put(model::GangId gang, QueueId leaf, const GangRank& rank) { tournament_.Put(gang, leaf, rank, 0); }
  void Erase(model::GangId gang) { tournament_.Erase(gang); }
  std::optional<model::GangId> First() const { return tournament_.First(0); }
  size_t size() const { return tournament_.size(); }

  // Returns true when it is another rank than before.
  bool SetRank(QueueId queue, const QueueRank& rank) {
    if (queue.index() >= ranks_.size()) ranks_.resize(queue.index() + 1);
    if (ranks_[queue.index()] == rank) return false;
    ranks_[queue.index()] = rank;
    tournament_.Moved(queue);
    return true;
  }
  const QueueRanks& ranks() const { return ranks_; }

 private:
  QueueRanks ranks_;
  Tournament tournament_;
};

}  // namespace tutti::queue
