// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/dominant_share.h"

#include <algorithm>
#include <limits>

namespace tutti::queue {

bool DominantShare::BorrowsOf(const std::vector<CellAmount>& wants) const {
  return std::ranges::any_of(wants, [this](const CellAmount& want) {
    return want.amount > 0 && std::ranges::binary_search(borrowed, want.cell);
  });
}

double DominantShare::Weighted() const {
  if (thousandths == 0) return 0;
  return weight == 0 ? std::numeric_limits<double>::infinity() : thousandths / weight;
}

std::weak_ordering Compare(const DominantShare& a, const DominantShare& b) {
  const auto unbounded = [](const DominantShare& s) { return s.weight == 0 && s.thousandths != 0; };
  if (unbounded(a) && unbounded(b)) return std::weak_order(a.thousandths, b.thousandths);
  if (unbounded(a) != unbounded(b)) return unbounded(a) ? std::weak_ordering::greater : std::weak_ordering::less;
  return std::weak_order(a.Weighted(), b.Weighted());
}

}  // namespace tutti::queue
