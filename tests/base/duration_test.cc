// SPDX-License-Identifier: Apache-2.0
#include "base/duration.h"

#include "tests/support/catch.h"

namespace tutti::base {
namespace {

TEST_CASE("Durations are read as Go writes them") {
  CHECK(ParseDuration("30s") == 30'000);
  CHECK(ParseDuration("1h30m") == 5'400'000);
  CHECK(ParseDuration("500ms") == 500);
  CHECK(ParseDuration("1.5s") == 1500);
  CHECK(ParseDuration("0") == 0);
}

TEST_CASE("Durations of our own may be in days, which Go's know not") {
  CHECK(ParseSpan("1d") == 86'400'000);
  CHECK(ParseSpan("2d12h") == 216'000'000);
  CHECK(ParseSpan("30s") == 30'000);
  CHECK_FALSE(ParseDuration("1d"));
  REQUIRE_FALSE(ParseSpan("1w"));
  CHECK_THAT(ParseSpan("1w").error().message, Catch::Contains("or 2d"));
}

TEST_CASE("What is no duration is refused with the remedy") {
  for (const char* text : {"", "30", "s", "-1s", "1e9h", "nan", "5 m", "99999999999999999999h"}) {
    INFO(text);
    const auto parsed = ParseDuration(text);
    REQUIRE_FALSE(parsed);
    CHECK_THAT(parsed.error().message, Catch::Contains("write a number with a unit"));
  }
}

}  // namespace
}  // namespace tutti::base
