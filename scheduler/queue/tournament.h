// SPDX-License-Identifier: Apache-2.0
// Tournament: finds the next gang among the queues below one queue, or the next one that needs at most a budget. One
// thread.
//
// In a queue, gangs are sorted by GangRank. Of sibling queues the one with the higher priority is first, then the one
// with the smaller share. A queue's own gangs are before those of queues below it. A gang that comes or goes, or a
// changed share, costs the depth times the logarithm of the number of gangs or queues there. Gangs of a moved queue
// keep their place until they are erased and put again.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "model/gang_rank.h"
#include "model/ids.h"
#include "queue/first_fit.h"
#include "queue/ids.h"
#include "queue/rising_fit.h"
#include "queue/tree.h"

namespace tutti::queue {

using model::GangRank;

// A queue's place among its siblings.
struct QueueRank {
  int32_t priority = 0;
  double share = 0;
  friend bool operator==(const QueueRank&, const QueueRank&) = default;
};
using QueueRanks = std::vector<QueueRank>;  // by QueueId; a missing one counts as an empty rank

class Tournament {
 public:
  // `top`: the queue that contains all others; invalid: the roots are siblings. `tree` and `ranks` must outlive it.
  Tournament(const QueueTree& tree, const QueueRanks& ranks, QueueId top = {})
      : tree_(&tree), ranks_(&ranks), top_(top) {}

  // Adds the gang, or moves it. REQUIRES: `leaf` is `top` or below it.
  void Put(model::GangId gang, QueueId leaf, const GangRank& rank, int64_t need);
  // Removes the gang, if it is there; also works after the tree has changed.
  void Erase(model::GangId gang);
  // `now_ms`: wall; it makes a difference where priorities change with time.
  std::optional<model::GangId> First(int64_t budget, base::Millis now_ms) const;

  // Updates the queue's place after its rank has changed.
  void Moved(QueueId queue);

  bool empty() const { return leaf_of_.empty(); }
  size_t size() const { return leaf_of_.size(); }

 private:
  struct Stand {
    QueueId up;  // the parent when the first gang came; the queue must be removed there
    RisingFit gangs;
    FirstFit queues;
    bool empty() const { return gangs.empty() && queues.empty(); }
    int64_t LeastNeed() const;
  };
  Rank RankOf(QueueId queue) const;
  // Updates the queues above after a change in `queue`.
  void Climb(QueueId queue);

  const QueueTree* tree_;
  const QueueRanks* ranks_;
  QueueId top_;
  absl::flat_hash_map<QueueId, Stand> stands_;
  absl::flat_hash_map<model::GangId, QueueId> leaf_of_;
};

}  // namespace tutti::queue
