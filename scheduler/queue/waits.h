// SPDX-License-Identifier: Apache-2.0
// Waits: knows which gang waits for which (queue, cell) and amount, and which gangs wake when there is more. One
// thread.
//
// A gang waits at one place: at the lowest queue on its path that is short, and there at the first short cell. When
// that place has enough for it, the gang is looked at again. It is then woken, or waits at the next short place. So a
// release costs a logarithm for each gang that is looked at, and nothing for all others. A gang that is charged to
// several trees has a path in each, and they are looked at one after the other. Invariants
//   (1) a gang whose ask fits has been woken, unless another gang was woken for that room;
//   (2) the gangs that one call wakes fit together within the limits.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/container/inlined_vector.h>

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
  using Leaves = absl::InlinedVector<QueueId, 1>;

  // All must outlive this; `ranks` are the Order's.
  Waits(QueueTree& tree, const Ledger& ledger, const QueueRanks& ranks) : tree_(tree), ledger_(ledger), ranks_(ranks) {}
  ~Waits();
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;

  // Makes the gang wait for `ask` of each of its leaves, which are of different trees. Returns false, and the gang does
  // not wait, if the ask fits now.
  bool Put(model::GangId gang, Leaves leaves, const GangRank& rank, Ask ask);
  // Removes the gang, if it waits.
  void Erase(model::GangId gang);

  // Removes and returns the gangs whose ask fits now. It is called after `cells` of `queue` or of one above it got more
  // room: after a release, a raised limit, or when a woken gang did not take its room. The smaller share is first, then
  // priority, then age. `now_ms`: wall; see GangRank.
  std::vector<model::GangId> Wake(QueueId queue, std::span<const CellId> cells, base::Millis now_ms);
  // The same after limits that may have risen anywhere: all places are looked at.
  std::vector<model::GangId> WakeAnywhere(base::Millis now_ms);
  // Takes out all of the queue and of those below it, for its limits or its parent are others now.
  std::vector<model::GangId> TakeBelow(QueueId queue);

  // Updates the queue's place after its rank has changed.
  void Moved(QueueId queue);

  size_t size() const { return waiters_.size(); }
  // Returns how many gangs were looked at so far: those woken, and those that moved to another place.
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
    Leaves leaves;  // held
    GangRank rank;
    Ask ask;
    Place place;
  };
  using Promised = absl::flat_hash_map<Place, int64_t>;  // amounts promised to woken gangs

  struct Shortage {
    Place place;   // its queue is invalid: there is none
    QueueId leaf;  // on whose path it is
  };
  // Returns where the ask is too much.
  Shortage Short(const Waiter& waiter, const Promised& promised) const;
  int64_t Room(const Place& place, const Promised& promised) const;
  void StandAt(model::GangId gang, Waiter& waiter, const Shortage& shortage);
  void LeavePlace(model::GangId gang, const Waiter& waiter);
  void WakeAt(const Place& place, base::Millis now_ms, Promised* promised, std::vector<model::GangId>* woken);

  QueueTree& tree_;
  const Ledger& ledger_;
  const QueueRanks& ranks_;
  absl::flat_hash_map<model::GangId, Waiter> waiters_;
  absl::flat_hash_map<Place, Tournament> places_;                              // none is empty
  absl::flat_hash_map<QueueId, std::vector<CellId>> cells_at_;                 // the cells of `places_`, by queue
  absl::flat_hash_map<QueueId, absl::flat_hash_set<model::GangId>> gangs_of_;  // by leaf; none is empty
  uint64_t looked_at_ = 0;
};

}  // namespace tutti::queue
