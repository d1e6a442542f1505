// SPDX-License-Identifier: Apache-2.0
#include "model/quantity.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>

#include "base/text.h"

namespace tutti::model {
namespace {

using base::Invalid;
using base::Result;
__extension__ using Wide = __int128;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
// Below it another digit may follow: nineteen hold every int64, and times 2^60 and ten they stay within 127 bits.
constexpr int64_t kDigitsLimit = 1'000'000'000'000'000'000;

struct Scale {
  int64_t binary = 1;  // multiply by this
  int decimal = 0;     // and by ten to this
};

std::optional<Scale> ParseSuffix(std::string_view s) {
  static constexpr std::array<std::pair<std::string_view, int>, 10> kDecimal{
      {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}}};
  for (const auto& [name, power] : kDecimal)
    if (s == name) return Scale{1, power};
  static constexpr std::string_view kBinary = "KMGTPE";
  if (s.size() == 2 && s[1] == 'i')
    if (const auto at = kBinary.find(s[0]); at != std::string_view::npos)
      return Scale{int64_t{1} << (10 * (at + 1)), 0};
  if (s.size() >= 2 && (s[0] == 'e' || s[0] == 'E')) {
    size_t at = 1;
    const bool negative = s[at] == '-';
    if (s[at] == '-' || s[at] == '+') ++at;
    if (at == s.size() || s.size() - at > 9) return std::nullopt;
    int power = 0;
    for (; at < s.size(); ++at) {
      if (s[at] < '0' || s[at] > '9') return std::nullopt;
      power = power * 10 + (s[at] - '0');
    }
    return Scale{1, negative ? -power : power};
  }
  return std::nullopt;
}

// The magnitude of digits * 10^power * binary, rounded up; saturates.
Quantity Magnitude(Wide digits, int power, int64_t binary, bool inexact) {
  if (digits == 0) return {inexact ? 1 : 0, false};
  Wide value = digits * binary;
  for (; power > 0; --power) {
    value *= 10;
    if (value > kMax) return {kMax, true};
  }
  for (; power < 0; ++power) {
    inexact = inexact || value % 10 != 0;
    value /= 10;
    if (value == 0) return {inexact ? 1 : 0, false};
  }
  if (inexact) ++value;
  if (value > kMax) return {kMax, true};
  return {static_cast<int64_t>(value), false};
}

Result<Quantity> Parse(std::string_view text, int unit_power) {
  const auto bad = [&] {
    return Invalid(
        fmt::format("\"{}\" is not a quantity; write a number with an optional suffix, such as 500m, 2 or 4Gi",
                    base::Cut(text, 64)));
  };
  std::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  Wide digits = 0;
  int power = 0;
  bool seen_point = false, any = false, inexact = false;
  size_t at = 0;
  for (; at < rest.size(); ++at) {
    const char c = rest[at];
    if (c == '.' && !seen_point) {
      seen_point = true;
    } else if (c >= '0' && c <= '9') {
      any = true;
      if (digits < kDigitsLimit) {
        digits = digits * 10 + (c - '0');
        if (seen_point) --power;
      } else {  // digits past the nineteenth only scale, and make the value inexact unless they are zero
        inexact = inexact || c != '0';
        if (!seen_point) ++power;
      }
    } else {
      break;
    }
  }
  if (!any) return bad();
  const std::optional<Scale> scale = ParseSuffix(rest.substr(at));
  if (!scale) return bad();
  Quantity q = Magnitude(digits, power + scale->decimal + unit_power, scale->binary, inexact);
  if (negative) q.value = -q.value;
  return q;
}

}  // namespace

Result<Quantity> ParseMilli(std::string_view text) { return Parse(text, 3); }
Result<Quantity> ParseUnits(std::string_view text) { return Parse(text, 0); }

std::string FormatCpu(int64_t milli) {
  return milli % 1000 == 0 ? fmt::format("{}", milli / 1000) : fmt::format("{}m", milli);
}

std::string FormatBytes(int64_t bytes) {
  static constexpr std::array<std::string_view, 6> kSuffix{"Ei", "Pi", "Ti", "Gi", "Mi", "Ki"};
  for (size_t i = 0; i < kSuffix.size(); ++i)
    if (const int64_t unit = int64_t{1} << (10 * (kSuffix.size() - i)); bytes != 0 && bytes % unit == 0)
      return fmt::format("{}{}", bytes / unit, kSuffix[i]);
  return fmt::format("{}", bytes);
}

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? kMax : kMin;
}

int64_t SaturatingSub(int64_t a, int64_t b) {
  int64_t difference;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? kMax : kMin;
}

int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a > 0) == (b > 0) ? kMax : kMin;
}

}  // namespace tutti::model
