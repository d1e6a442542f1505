// SPDX-License-Identifier: Apache-2.0
// Tournament: which gang is next among those of the queues below one queue, and which of those that need at most so
// much. One thread.
//
// In a queue gangs stand by priority, then age; among sibling queues the one of the higher priority comes first, then
// the one of the smaller share. A queue's own gangs come before those of the queues below it. A gang that comes or
// goes, or a share that changes, costs the depth times the logarithm of how many stand there. Gangs of a queue that has
// moved stand where they were until they are taken out and put in anew.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "model/ids.h"
#include "queue/first_fit.h"
#include "queue/ids.h"
#include "queue/tree.h"

namespace tutti::queue {

// Where a gang stands in the line of its queue.
struct GangRank {
  int32_t priority = 0;
  base::Millis created_ms = 0;
};

// Where a queue stands among its siblings.
struct QueueRank {
  int32_t priority = 0;
  double share = 0;
  friend bool operator==(const QueueRank&, const QueueRank&) = default;
};
using QueueRanks = std::vector<QueueRank>;  // by QueueId; one that is not there has an empty rank

class Tournament {
 public:
  // `top`: the queue below which all stand; invalid: the roots stand side by side. `tree` and `ranks` must outlive it.
  Tournament(const QueueTree& tree, const QueueRanks& ranks, QueueId top = {})
      : tree_(&tree), ranks_(&ranks), top_(top) {}

  // Adds the gang, or moves it. REQUIRES: `leaf` is `top` or below it.
  void Put(model::GangId gang, QueueId leaf, const GangRank& rank, int64_t need);
  // Takes the gang out, if it is there; also after the tree has changed.
  void Erase(model::GangId gang);
  std::optional<model::GangId> First(int64_t budget) const;

  // Says that the queue's rank has changed.
  void Moved(QueueId queue);

  bool empty() const { return leaf_of_.empty(); }
  size_t size() const { return leaf_of_.size(); }

 private:
  struct Stand {
    QueueId up;  // as it was when the first gang came: that is where the queue is to be taken out
    FirstFit gangs, queues;
    bool empty() const { return gangs.empty() && queues.empty(); }
    int64_t LeastNeed() const;
  };
  Rank RankOf(QueueId queue) const;
  // Tells those above that what stands in `queue` has changed.
  void Climb(QueueId queue);

  const QueueTree* tree_;
  const QueueRanks* ranks_;
  QueueId top_;
  absl::flat_hash_map<QueueId, Stand> stands_;
  absl::flat_hash_map<model::GangId, QueueId> leaf_of_;
};

}  // namespace tutti::queue
