// SPDX-License-Identifier: Apache-2.0
// Turns: in which order the first gangs of all lines have their turn. One thread.
//
// By quota: the gang that has to borrow from least far away, then priority, then time. By fair shares: a tournament up
// the tree, played again for each turn, since every one that is admitted changes the shares.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <deque>
#include <map>
#include <vector>

#include "queue/policies/kueue/preemption.h"

namespace tutti::queue {

struct Turn {
  model::GangId gang;
  QueueId leaf;
  const model::GangAsk* ask = nullptr;
  Assignment assignment;
  std::vector<Victim> victims;
  FlavorProgress before = {};  // where the search for its flavors had begun
};

class Turns {
 public:
  // `arena` must outlive this. At most one turn a leaf, all of one tree.
  Turns(const PreemptionArena& arena, std::vector<Turn> turns, bool by_fair_share);

  // null: all have had their turn.
  Turn* Next();
  // Says that something was charged: shares are others now.
  void Charged() { shares_.clear(); }

 private:
  // The one that would leave the queues on its path with the smaller shares.
  Turn* PlayTournament();

  const PreemptionArena& arena_;
  std::vector<Turn> turns_;
  bool by_fair_share_;
  std::deque<Turn*> left_;  // in their order by quota
  // What the shares along the path of a turn would be with it, by the queue below which they are compared.
  using Shares = absl::flat_hash_map<QueueId, DominantShare>;
  std::map<const Turn*, Shares> shares_;
};

}  // namespace tutti::queue
