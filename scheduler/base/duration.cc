// SPDX-License-Identifier: Apache-2.0
#include "base/duration.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>

namespace tutti::base {
namespace {

struct Unit {
  std::string_view name;
  double ms;
};
constexpr Unit kUnits[] = {{"ms", 1},     {"us", 1e-3}, {"ns", 1e-6},     {"h", 3'600'000},
                           {"m", 60'000}, {"s", 1000},  {"d", 86'400'000}};
constexpr std::span<const Unit> kSpanUnits(kUnits), kGoUnits = kSpanUnits.first(kSpanUnits.size() - 1);

// The unit at the front of `text`, in milliseconds; 0 when there is none.
double TakeUnit(std::string_view& text, std::span<const Unit> units) {
  for (const auto& [name, ms] : units) {
    if (!text.starts_with(name)) continue;
    text.remove_prefix(name.size());
    return ms;
  }
  return 0;
}

Result<Millis> Parse(std::string_view text, std::span<const Unit> units, std::string_view examples) {
  const auto bad = [whole = text, examples] {
    return Invalid(fmt::format("\"{}\" is not a duration; write a number with a unit, such as {}", whole, examples));
  };
  if (text == "0") return 0;
  if (text.empty()) return bad();
  double total = 0;
  while (!text.empty()) {
    double amount = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed);
    if (error != std::errc() || amount < 0 || !std::isfinite(amount)) return bad();
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    const double unit = TakeUnit(text, units);
    if (unit == 0) return bad();
    total += amount * unit;
  }
  // A hundred years: further than any clock here goes, and far from overflow when added to one.
  if (total > 100 * 365.25 * 86'400'000) return bad();
  return static_cast<Millis>(std::llround(total));
}

}  // namespace

Result<Millis> ParseDuration(std::string_view text) { return Parse(text, kGoUnits, "30s, 5m or 1h30m"); }

Result<Millis> ParseSpan(std::string_view text) { return Parse(text, kSpanUnits, "30s, 5m, 1h30m or 2d"); }

}  // namespace tutti::base
