// SPDX-License-Identifier: Apache-2.0
// VolcanoProportion: Volcano's rule `proportion`. Queues share by weight what they ask for.
//
// What a queue deserves of a resource is the limit that upstream's rounds tend to: weighted max-min, never more than
// the queue asks for (what it has and what waits) or its real capability, never less than its guarantee. Siblings share
// what their parent deserves. Differences on purpose:
//   - whole units: a half GPU for each of two is one for one of them, so that none lies idle;
//   - what a queue deserves limits it where others have the rest. A queue that asks for more than there is, and shares
//     with none, is limited by its own capability: the nodes say what lacks;
//   - a guarantee is a floor under the level, while upstream's later rounds add to it;
//   - a queue is taken from for a resource that the taker asks for, of which it has more than it deserves. Upstream
//     takes for any resource, which lets two queues take from each other without end. Here every taking lessens what
//     all queues together have above their due.
#pragma once

#include <vector>

#include "queue/policies/volcano_rules.h"

namespace tutti::queue {

class VolcanoProportion : public VolcanoRules {
 public:
  // What a queue may have at most.
  enum class Limit {
    kDeserved,    // as upstream: no more than it deserves
    kCapability,  // what it says itself; what it deserves says whose turn it is, so that no node lies idle for it
  };

  // `pending`: what gangs that wait ask for. It must outlive this.
  VolcanoProportion(QueueTree& tree, Ledger& used, const Ledger& pending, Limit limit = Limit::kDeserved)
      : VolcanoRules(tree, used), pending_(pending), limit_(limit) {}

  bool LimitsFollowDemand() const override { return limit_ == Limit::kDeserved; }
  bool DeservedFollowsDemand() const override { return true; }
  bool MayTake(QueueId taker, const Ask& ask) const override;
  bool MayTakeFrom(QueueId taker, const Ask& ask, QueueId giver, const Ask& given) const override;

 private:
  void RenewDeserved(const std::vector<QueueId>& siblings, CellId cell, int64_t available) override;
  int64_t Request(QueueId queue, CellId cell) const;

  const Ledger& pending_;
  const Limit limit_;
};

}  // namespace tutti::queue
