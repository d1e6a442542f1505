// SPDX-License-Identifier: Apache-2.0
#include "app/demo.h"

#include "tests/support/catch.h"

namespace tutti::app {
namespace {

TEST_CASE("everything that the demo tells comes true") { CHECK(Demo() == 0); }

}  // namespace
}  // namespace tutti::app
