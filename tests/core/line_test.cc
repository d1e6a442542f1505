// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/line.h"

#include <functional>
#include <set>

#include "base/random.h"
#include "tests/support/catch.h"

using tutti::core::Line;

TEST_CASE("whatever comes or leaves, the first in line is taken") {
  tutti::base::Random random(7);
  Line<uint32_t, std::less<>> line{std::less<>()};
  std::set<uint32_t> expected;
  for (int step = 0; step < 20'000; ++step) {
    const auto id = static_cast<uint32_t>(random.Below(500));
    switch (random.Below(4)) {
      case 0:
      case 1:
        if (expected.insert(id).second) line.Insert(id);
        break;
      case 2:
        if (expected.erase(id) > 0) line.Erase(id);
        break;
      default:
        if (expected.empty()) break;
        REQUIRE(line.TakeFirst() == *expected.begin());
        expected.erase(expected.begin());
    }
    REQUIRE(line.empty() == expected.empty());
  }
}

TEST_CASE("what comes in order is taken in order") {
  Line<uint32_t, std::less<>> line{std::less<>()};
  for (uint32_t id = 0; id < 100; ++id) line.Insert(id);
  for (uint32_t id = 0; id < 100; ++id) REQUIRE(line.TakeFirst() == id);
  REQUIRE(line.empty());
}
