// SPDX-License-Identifier: Apache-2.0
#include "app/demo.h"

#include "tests/support/catch.h"

namespace tutti::app {
namespace {

TEST_CASE("everything that the demos tell comes true") {
  CHECK(Demo("volcano") == 0);
  CHECK(Demo("mcad") == 0);
  CHECK(Demo("kueue-priority") == 0);
}

}  // namespace
}  // namespace tutti::app
