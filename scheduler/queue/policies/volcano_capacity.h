// SPDX-License-Identifier: Apache-2.0
// VolcanoCapacity: Volcano's `capacity`. Each queue says what it deserves; it may have more while others do not use it.
//
// A queue admits up to its real capability, and so does each queue above it. What it has above what it deserves may be
// taken back by a queue that would stay within what it deserves of some resource that it asks for.
#pragma once

#include <vector>

#include "queue/policies/volcano_rules.h"

namespace tutti::queue {

class VolcanoCapacity : public VolcanoRules {
 public:
  // `ancestor_levels`: how many queues above the two are compared as they are themselves; roots are not.
  VolcanoCapacity(QueueTree& tree, Ledger& used, int ancestor_levels = 0)
      : VolcanoRules(tree, used), ancestor_levels_(ancestor_levels) {}

  bool MayTakeFrom(QueueId taker, const Ask& ask, QueueId giver, const Ask& given) const override;

 private:
  void RenewDeserved(const std::vector<QueueId>& siblings, CellId cell, int64_t available) override;

  // Tells whether the queue, or one of the levels above it, would stay within what it deserves in some cell.
  bool MayReclaim(QueueId taker, const Ask& ask) const;
  bool DeservesSome(QueueId queue, const Ask& amounts) const;
  // Tells whether the queue has more than it deserves of one of the cells.
  bool HasMore(QueueId queue, const Ask& amounts) const;

  int ancestor_levels_;
};

}  // namespace tutti::queue
