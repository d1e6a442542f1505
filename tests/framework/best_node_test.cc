// SPDX-License-Identifier: Apache-2.0
#include "framework/best_node.h"

#include <algorithm>

#include "base/random.h"
#include "tests/support/catch.h"

using namespace tutti;

TEST_CASE("the best node is the first of the highest, through growth and changes") {
  for (const size_t slots : {1u, 63u, 64u, 65u, 4096u, 4097u, 5000u}) {
    base::Random random(slots);
    const int64_t most = GENERATE(int64_t{20}, int64_t{2'000'000'000});
    framework::BestNode best(most);
    best.Grow(slots / 2 + 1);
    best.Grow(slots);
    CHECK_FALSE(best.Best().valid());
    std::vector<int32_t> totals(slots, framework::BestNode::kOut);
    for (int i = 0; i < 500; ++i) {
      const size_t slot = random.Below(slots);
      totals[slot] = random.OneIn(4) ? framework::BestNode::kOut : static_cast<int32_t>(most - random.Between(0, 20));
      if (totals[slot] == framework::BestNode::kOut)
        best.TakeOut(slot);
      else
        best.Put(slot, totals[slot]);
      best.Replay(slot);
      const auto at = std::ranges::max_element(totals);
      if (*at == framework::BestNode::kOut)
        REQUIRE_FALSE(best.Best().valid());
      else
        REQUIRE(best.Best().index() == static_cast<size_t>(at - totals.begin()));
    }
  }
}
