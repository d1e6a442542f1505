// SPDX-License-Identifier: Apache-2.0
// Waits: which gang waits for which (queue, cell), how much of it, and which wake when there is more. One
// thread.
//
// A gang waits at one place where its ask is too much: the lowest queue on its path that is short, and there the first
// cell. It is looked at again when it could have what it needs there. Then it is woken, or waits at the next place that
// is short. So a release costs the logarithm for each gang that is looked at, and nothing for all others. Invariants
//   (1) whenever a gang's ask fits and no other gang was woken for that room, the gang has been woken;
//   (2) those woken by one call have room together, as far as limits say.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <span>
#include <vector>

#include "model/ids.h"
#include "queue/cells.h"
#include "queue/ledger.h"
#include "queue/tournament.h"
#include "queue/tree.h"

namespace tutti::queue {

class Waits {
 public:
  // All must outlive this; `ranks` are those of the Order.
  Waits(QueueTree& tree, const Ledger& ledger, const QueueRanks& ranks) : tree_(tree), ledger_(ledger), ranks_(ranks) {}
  ~Waits();
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;

  // Lets the gang wait, or wait for something else. Returns false, and lets it not wait, when its ask fits now.
  bool Put(model::GangId gang, QueueId leaf, const GangRank& rank, Ask ask);
  // Lets the gang wait no longer, if it does.
  void Erase(model::GangId gang);

  // Takes out those that can have what they ask for, after `cells` of `queue` or of one above it became freer: after a
  // release, a limit that was raised, and when a gang that was woken did not take its room. They come in their order:
  // the smaller share first, then priority, then age.
  std::vector<model::GangId> Wake(QueueId queue, std::span<const CellId> cells);
  // Takes out all of the queue and of those below it, for its limits or its parent are others now.
  std::vector<model::GangId> TakeBelow(QueueId queue);

  // Says that the queue's rank has changed.
  void Moved(QueueId queue);

  size_t size() const { return waiters_.size(); }
  // How many gangs were looked at since the beginning: those woken, and those that now wait at another place.
  uint64_t looked_at() const { return looked_at_; }

 private:
  struct Place {
    QueueId queue;
    CellId cell;
    friend bool operator==(const Place&, const Place&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Place& place) {
      return H::combine(std::move(h), place.queue, place.cell);
    }
  };
  struct Waiter {
    QueueId leaf;  // held
    GangRank rank;
    Ask ask;
    Place place;
  };
  using Promised = absl::flat_hash_map<Place, int64_t>;  // to those that were woken

  // Where the ask is too much, with an invalid queue if nowhere.
  Place Short(const Waiter& waiter, const Promised& promised) const;
  int64_t Room(const Place& place, const Promised& promised) const;
  void StandAt(model::GangId gang, Waiter& waiter, const Place& place);
  void LeavePlace(model::GangId gang, const Waiter& waiter);
  void WakeAt(const Place& place, Promised* promised, std::vector<model::GangId>* woken);

  QueueTree& tree_;
  const Ledger& ledger_;
  const QueueRanks& ranks_;
  absl::flat_hash_map<model::GangId, Waiter> waiters_;
  absl::flat_hash_map<Place, Tournament> places_;                              // none is empty
  absl::flat_hash_map<QueueId, std::vector<CellId>> cells_at_;                 // of `places_`
  absl::flat_hash_map<QueueId, absl::flat_hash_set<model::GangId>> gangs_of_;  // by leaf; none is empty
  uint64_t looked_at_ = 0;
};

}  // namespace tutti::queue
