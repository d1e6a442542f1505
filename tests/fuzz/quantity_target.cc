// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string>

#include "base/check.h"
#include "model/quantity.h"
#include "tests/fuzz/target.h"

TUTTI_FUZZ_TARGET(quantity) {
  using namespace tutti::model;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const auto milli = ParseMilli(input), units = ParseUnits(input);
  TUTTI_CHECK(milli.has_value() == units.has_value(), "a quantity in one unit only");
  if (!milli) {
    TUTTI_CHECK(milli.error().message.size() < 256, "a reason without end");
    return;
  }
  const auto in_range = [](const Quantity& q) {
    return q.value >= -kMost && (!q.saturated || q.value == kMost || q.value == -kMost);
  };
  TUTTI_CHECK(in_range(*milli) && in_range(*units), "saturated elsewhere than at the ends");
  TUTTI_CHECK(milli->saturated || !units->saturated, "more units than thousandths");
  // Both are rounded away from zero, each from the exact value.
  if (!milli->saturated) {
    const int64_t whole = milli->value / 1000 + (milli->value % 1000 > 0) - (milli->value % 1000 < 0);
    TUTTI_CHECK(units->value == whole, "thousandths and units differ");
    TUTTI_CHECK(ParseMilli(FormatCpu(milli->value))->value == milli->value, "what is written is not what is read");
  }
  if (!units->saturated && units->value >= 0)
    TUTTI_CHECK(ParseUnits(FormatBytes(units->value))->value == units->value, "what is written is not what is read");
  if (input[0] != '-' && input[0] != '+') {
    const auto negative = ParseMilli("-" + std::string(input));
    TUTTI_CHECK(negative && negative->value == -milli->value, "not the same below zero");
  }
}
