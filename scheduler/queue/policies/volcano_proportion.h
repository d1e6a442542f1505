// SPDX-License-Identifier: Apache-2.0
// VolcanoProportion: Volcano's rule `proportion`. Queues share by weight what they ask for.
//
// A queue deserves the limit of Volcano's rounds: a weighted max-min share. It is never more than the queue asks for
// (what it has and what waits) or its real capability, and never less than its guarantee. Siblings share what their
// parent deserves. It differs from Volcano on purpose:
//   - units are whole: where each of two queues would get half a GPU, one gets a whole one, so that none is idle;
//   - a guarantee is a floor under the share, while Volcano's later rounds add to it;
//   - a taker may only take from a queue that has more than it deserves of a resource that the taker asks for. Volcano
//     allows any resource, so two queues may take from each other without end. Here each taking reduces the sum that
//     all queues have above their deserved amounts.
#pragma once

#include <vector>

#include "queue/policies/volcano_rules.h"

namespace tutti::queue {

class VolcanoProportion : public VolcanoRules {
 public:
  // `pending`: the requests of waiting gangs. It must outlive this.
  VolcanoProportion(QueueTree& tree, Ledger& used, const Ledger& pending)
      : VolcanoRules(tree, used), pending_(pending) {}

  bool MayTakeFrom(QueueId taker, const Ask& ask, QueueId giver, const Ask& given) const override;

 private:
  void RenewDeserved(const std::vector<QueueId>& siblings, CellId cell, int64_t available) override;
  int64_t Request(QueueId queue, CellId cell) const;

  const Ledger& pending_;
};

}  // namespace tutti::queue
