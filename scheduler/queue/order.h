// SPDX-License-Identifier: Apache-2.0
// Order: finds the next of the ready gangs. Each leaf queue has a line of gangs, and a tournament goes up the trees.
// One thread.
#pragma once

#include "queue/tournament.h"

namespace tutti::queue {

class Order {
 public:
  // `tree` must outlive this.
  explicit Order(const QueueTree& tree) : tournament_(tree, ranks_) {}
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;

  // Adds the gang to the line of its queue, or moves it to there.
  void Put(model::GangId gang, QueueId leaf, const GangRank& rank) { tournament_.Put(gang, leaf, rank, 0); }
  void Erase(model::GangId gang) { tournament_.Erase(gang); }
  std::optional<model::GangId> First() const { return tournament_.First(0); }
  size_t size() const { return tournament_.size(); }

  // Sets the rank. Returns true when it changed.
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
