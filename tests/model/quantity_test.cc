// SPDX-License-Identifier: Apache-2.0
#include "model/quantity.h"

#include <fmt/format.h>
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <limits>

#include "tests/support/catch.h"

namespace tutti::model {
namespace {

__extension__ using Wide = __int128;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

int64_t Clamp(Wide value) { return value > kMax ? kMax : value < kMin ? kMin : static_cast<int64_t>(value); }

TEST_CASE("Quantities are read in Kubernetes' grammar, rounded away from zero") {
  struct Row {
    const char* text;
    int64_t milli, units;
  };
  for (const Row& row : {Row{"0", 0, 0},
                         {"1", 1'000, 1},
                         {"+2", 2'000, 2},
                         {"100m", 100, 1},
                         {"1500m", 1'500, 2},
                         {"0.1", 100, 1},
                         {".5", 500, 1},
                         {"1.", 1'000, 1},
                         {"1e3", 1'000'000, 1'000},
                         {"1E-3", 1, 1},
                         {"12e+2", 1'200'000, 1'200},
                         {"1u", 1, 1},
                         {"1n", 1, 1},
                         {"0n", 0, 0},
                         {"1k", 1'000'000, 1'000},
                         {"1Ki", 1'024'000, 1'024},
                         {"1.5Gi", 1'610'612'736'000, 1'610'612'736},
                         {"-1", -1'000, -1},
                         {"-1500m", -1'500, -2},
                         {"-1n", -1, -1},
                         {"0.0000000001", 1, 1},
                         {"1E", kMax, 1'000'000'000'000'000'000}}) {
    INFO(row.text);
    const auto milli = ParseMilli(row.text), units = ParseUnits(row.text);
    REQUIRE(milli);
    REQUIRE(units);
    CHECK(milli->value == row.milli);
    CHECK(units->value == row.units);
  }
}

TEST_CASE("What is no quantity is refused, and the message says what to write") {
  for (const char* text : {"",    " 1",   "1 ",  "1Kib", "1ki", "1K", "1.2.3", "--1", "e3",  "1e",
                           "1e+", "0x10", "1Zi", "m",    ".",   "-",  "1,5",   "NaN", "inf", "1e9999999999"}) {
    INFO(text);
    const auto parsed = ParseUnits(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == base::ErrorCode::kInvalid);
    CHECK_THAT(parsed.error().message, Catch::Contains("is not a quantity; write"));
  }
  CHECK(ParseUnits(std::string(100'000, 'x')).error().message.size() < 300);
}

TEST_CASE("What no int64 holds saturates, and says so") {
  for (const char* text :
       {"9223372036854775808", "8Ei", "10E", "1e19", "1e999999999", "99999999999999999999999999Ei"}) {
    INFO(text);
    const auto parsed = ParseUnits(text);
    REQUIRE(parsed);
    CHECK(parsed->value == kMax);
    CHECK(parsed->saturated);
  }
  CHECK(ParseUnits("-1e99")->value == -kMax);
  CHECK(ParseMilli("9223372036854775807")->saturated);
  CHECK_FALSE(ParseUnits("9223372036854775807")->saturated);
  CHECK(ParseUnits("1e-999999999")->value == 1);
  CHECK(ParseUnits("0e999999999")->value == 0);
}

TEST_CASE("Whole amounts are exact, to the last of an int64's digits") {
  rc::prop("units", [](int64_t value) {
    if (value == kMin) return;
    const auto parsed = ParseUnits(fmt::format("{}", value));
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(parsed->value == value);
    RC_ASSERT(!parsed->saturated);
  });
  for (const int64_t value : {kMax, kMax - 1, int64_t{1'234'567'890'123'456'789}, -kMax}) {
    INFO(value);
    CHECK(ParseUnits(fmt::format("{}", value))->value == value);
    CHECK(ParseMilli(fmt::format("{}m", value))->value == value);
  }
}

TEST_CASE("Suffixes multiply exactly, or saturate") {
  const auto suffix = rc::gen::elementOf(std::vector<std::pair<std::string, int64_t>>{{"", 1},
                                                                                      {"k", 1'000},
                                                                                      {"M", 1'000'000},
                                                                                      {"G", 1'000'000'000},
                                                                                      {"Ki", 1 << 10},
                                                                                      {"Mi", 1 << 20},
                                                                                      {"Gi", 1 << 30},
                                                                                      {"Ti", int64_t{1} << 40},
                                                                                      {"Pi", int64_t{1} << 50},
                                                                                      {"Ei", int64_t{1} << 60},
                                                                                      {"P", 1'000'000'000'000'000}});
  rc::prop("digits and suffix", [&] {
    const int64_t digits = *rc::gen::inRange<int64_t>(0, 1'000'000'000'000);
    const auto [name, factor] = *suffix;
    const Wide exact = Wide{digits} * factor;
    const auto units = ParseUnits(fmt::format("{}{}", digits, name)),
               milli = ParseMilli(fmt::format("{}{}", digits, name));
    RC_ASSERT(units->value == Clamp(exact));
    RC_ASSERT(units->saturated == (exact > kMax));
    RC_ASSERT(milli->value == Clamp(exact * 1000));
  });
  rc::prop("thousandths round away from zero", [] {
    const int64_t milli = *rc::gen::inRange<int64_t>(-1'000'000'000'000, 1'000'000'000'000);
    const int64_t away = milli >= 0 ? (milli + 999) / 1000 : -((-milli + 999) / 1000);
    RC_ASSERT(ParseUnits(fmt::format("{}m", milli))->value == away);
    RC_ASSERT(ParseMilli(fmt::format("{}m", milli))->value == milli);
  });
}

TEST_CASE("What is printed reads back as the same amount") {
  rc::prop("cpu", [](int64_t milli) {
    if (milli != kMin) RC_ASSERT(ParseMilli(FormatCpu(milli))->value == milli);
  });
  rc::prop("bytes", [] {
    const int64_t bytes = *rc::gen::inRange<int64_t>(0, 1 << 20) << *rc::gen::inRange(0, 40);
    RC_ASSERT(ParseUnits(FormatBytes(bytes))->value == bytes);
  });
  CHECK(FormatCpu(1'500) == "1500m");
  CHECK(FormatCpu(2'000) == "2");
  CHECK(FormatBytes(int64_t{6} << 30) == "6Gi");
  CHECK(FormatBytes(int64_t{1'500} << 20) == "1500Mi");
  CHECK(FormatBytes(1'000) == "1000");
  CHECK(FormatBytes(0) == "0");
}

TEST_CASE("Sums, differences and products stop at the ends of int64") {
  rc::prop("as in 128 bits", [](int64_t a, int64_t b) {
    RC_ASSERT(SaturatingAdd(a, b) == Clamp(Wide{a} + b));
    RC_ASSERT(SaturatingSub(a, b) == Clamp(Wide{a} - b));
    RC_ASSERT(SaturatingMul(a, b) == Clamp(Wide{a} * b));
  });
  const int64_t edges[] = {kMin, kMin + 1, -2, -1, 0, 1, 2, kMax - 1, kMax};
  for (const int64_t a : edges)
    for (const int64_t b : edges) {
      CHECK(SaturatingAdd(a, b) == Clamp(Wide{a} + b));
      CHECK(SaturatingSub(a, b) == Clamp(Wide{a} - b));
      CHECK(SaturatingMul(a, b) == Clamp(Wide{a} * b));
    }
}

}  // namespace
}  // namespace tutti::model
