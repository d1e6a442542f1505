// SPDX-License-Identifier: Apache-2.0
// Order: which queue's turn it is, of those whose gangs are ready: a tournament up the trees. One thread.
#pragma once

#include <array>
#include <optional>

#include "queue/tournament.h"

namespace tutti::queue {

class Order {
 public:
  // Gangs of a queue that come before others whatever their queue have a tournament of their own.
  enum class Band : uint8_t { kFirst, kSecond };

  // `tree` must outlive this.
  explicit Order(const QueueTree& tree) : turns_{Tournament(tree, ranks_), Tournament(tree, ranks_)} {}
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;

  // Says that the queue has ready gangs. It is to be held meanwhile.
  void Put(QueueId queue, Band band) { TournamentOf(band).Put(EntryOf(queue), queue, {}, 0); }
  // Says that it has none, if it had some.
  void Erase(QueueId queue, Band band) { TournamentOf(band).Erase(EntryOf(queue)); }
  // The queue whose turn it is; nullopt: none has ready gangs.
  std::optional<QueueId> First(Band band) const {
    const auto entry = TournamentOf(band).First(0, 0);  // what stands for a queue has no priority
    return entry ? std::optional(QueueId(entry->value)) : std::nullopt;
  }
  // How many queues have ready gangs.
  size_t size(Band band) const { return TournamentOf(band).size(); }

  // Sets the rank. Returns true when it changed.
  bool SetRank(QueueId queue, const QueueRank& rank) {
    if (queue.index() >= ranks_.size()) ranks_.resize(queue.index() + 1);
    if (ranks_[queue.index()] == rank) return false;
    ranks_[queue.index()] = rank;
    for (Tournament& turns : turns_) turns.Moved(queue);
    return true;
  }
  const QueueRanks& ranks() const { return ranks_; }

 private:
  // A tournament is one of gangs; each queue sends one.
  static model::GangId EntryOf(QueueId queue) { return model::GangId(queue.value); }
  Tournament& TournamentOf(Band band) { return turns_[static_cast<size_t>(band)]; }
  const Tournament& TournamentOf(Band band) const { return turns_[static_cast<size_t>(band)]; }

  QueueRanks ranks_;
  std::array<Tournament, 2> turns_;
};

}  // namespace tutti::queue
