// SPDX-License-Identifier: Apache-2.0
// VolcanoCapacity: Volcano's rule `capacity`. Each queue declares what it deserves; it may have more while others do
// not use it.
//
// A queue admits up to its real capability, and so does each queue above it. A second queue may take back what the
// first has above its deserved amount. For that, the second must stay within its own deserved amount of some resource
// that it asks for. If the first could take in its turn, the second must stay within its own of all that it is given.
#pragma once

#include <span>
#include <vector>

#include "queue/policies/volcano_rules.h"

namespace tutti::queue {

class VolcanoCapacity : public VolcanoRules {
 public:
  // `ancestor_levels`: how many queues above the two are compared as they are themselves; roots are not.
  VolcanoCapacity(QueueTree& tree, Ledger& used, int64_t ancestor_levels = 0)
      : VolcanoRules(tree, used), ancestor_levels_(ancestor_levels) {}

  bool LimitsFollowDemand() const override { return false; }
  bool DeservedFollowsDemand() const override { return false; }
  bool MayTake(QueueId taker, const Ask& ask) const override;
  bool MayTakeFrom(QueueId taker, const Ask& ask, QueueId giver, const Ask& given) const override;

 private:
  void RenewDeserved(const std::vector<QueueId>& siblings, CellId cell, int64_t available) override;

  using Amounts = std::span<const CellAmount>;
  bool StaysWithin(QueueId taker, const Ask& ask, const auto& must) const;
  bool DeservesSome(QueueId queue, Amounts amounts) const;
  // Whether the queue has more than it deserves of one of the cells.
  bool HasMore(QueueId queue, Amounts amounts) const;

  int64_t ancestor_levels_;
};

}  // namespace tutti::queue
