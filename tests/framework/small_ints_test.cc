// SPDX-License-Identifier: Apache-2.0
#include "framework/small_ints.h"

#include <vector>

#include "base/random.h"
#include "tests/support/catch.h"

using namespace tutti;

TEST_CASE("small integers keep what was put, whatever its width, and take only the bytes that it needs") {
  base::Random random(1);
  for (const int64_t most : {int64_t{100}, int64_t{30'000}, int64_t{2'000'000'000}, int64_t{1} << 60}) {
    framework::SmallInts small;
    std::vector<int64_t> plain(200);
    small.Put(7, 0, plain.size());
    CHECK(small.empty());
    CHECK(small.memory() == 0);
    for (int i = 0; i < 1'000; ++i) {
      const size_t slot = random.Below(plain.size());
      plain[slot] = random.Between(-most, most);
      small.Put(slot, plain[slot], plain.size());
    }
    for (size_t slot = 0; slot < plain.size(); ++slot) REQUIRE(small.at(slot) == plain[slot]);
    if (most == 100) CHECK(small.memory() == plain.size());
    small.Clear();
    CHECK(small.at(7) == 0);
    CHECK(small.empty());
  }
}
