// SPDX-License-Identifier: Apache-2.0
// DominantShare: how much a queue borrows of what it could borrow, of the resource of which that is most.
#pragma once

#include <compare>
#include <vector>

#include "queue/cells.h"

namespace tutti::queue {

struct DominantShare {
  double thousandths = 0;  // of what its parent could have, before the weight
  double weight = 1;
  std::vector<CellId> borrowed;  // sorted

  bool borrows() const { return !borrowed.empty(); }
  bool BorrowsOf(const std::vector<CellAmount>& wants) const;
  // Divided by the weight; infinite for one that borrows with weight 0.
  double Weighted() const;

  // The smaller one is next in turn, the larger one gives first. Of two that borrow with weight 0 the shares before
  // the weight count.
  friend std::weak_ordering Compare(const DominantShare& a, const DominantShare& b);
};

}  // namespace tutti::queue
