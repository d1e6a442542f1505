// SPDX-License-Identifier: Apache-2.0
#include "framework/cells.h"

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "tests/support/catch.h"

namespace tutti::framework {
namespace {

TEST_CASE("The best of a cell is the best of its nodes, whatever came and went") {
  constexpr size_t kNodes = 40, kCells = 3;
  base::Random random(7);
  BestNode totals;
  totals.Grow(kNodes);
  Cells cells(totals);
  std::vector<size_t> cell_of(kNodes, kCells);  // kCells: in none
  for (int step = 0; step < 3000; ++step) {
    const size_t slot = random.Below(kNodes);
    const model::NodeId n(static_cast<uint32_t>(slot));
    cell_of[slot] = random.Below(kCells + 1);
    if (cell_of[slot] == kCells) {
      cells.TakeOut(n);
    } else {
      totals.Put(slot, static_cast<int32_t>(random.Below(10)));
      cells.Put(n, {5, static_cast<int64_t>(cell_of[slot])});
    }
    if (random.OneIn(50)) {
      for (size_t other = 0; other < kNodes; ++other) totals.Put(other, static_cast<int32_t>(random.Below(10)));
      cells.TotalsChanged();
    }
    // Cells are numbered as they are first named; so the best of all cells together is compared, and how many there
    // are.
    std::vector<model::NodeId> expected, got;
    size_t nodes = 0, held = 0;
    for (size_t cell = 0; cell < kCells; ++cell) {
      model::NodeId best;
      for (uint32_t other = 0; other < kNodes; ++other) {
        if (cell_of[other] != cell) continue;
        ++held;
        if (!best || totals.total(other) > totals.total(best.index())) best = model::NodeId(other);
      }
      if (best) expected.push_back(best);
    }
    for (size_t cell = 0; cell < cells.size(); ++cell) {
      nodes += cells.nodes(cell);
      if (const model::NodeId best = cells.Best(cell)) got.push_back(best);
    }
    std::ranges::sort(expected), std::ranges::sort(got);
    REQUIRE(got == expected);
    REQUIRE(nodes == held);
  }
  CHECK(cells.memory() < 10'000);
}

}  // namespace
}  // namespace tutti::framework
