// SPDX-License-Identifier: Apache-2.0
#include "sim/objects/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/json_string.h"

namespace tutti::sim {
namespace {

__extension__ using Wide = __int128;

constexpr Wide kNano = 1'000'000'000;
// Beyond 2^63 Kubernetes saturates; leaving the text as written shows the same number.
const Wide kLargest = Wide(INT64_MAX) * kNano;

enum class Notation { kDecimal, kBinary, kExponent };

struct Parsed {
  Wide nano = 0;
  Notation notation = Notation::kDecimal;
  bool too_large = false;
};

struct Suffix {
  std::string_view text;
  int power;  // of 1000 for decimal, of 1024 for binary
};

constexpr Suffix kDecimalSuffixes[] = {{"n", -3}, {"u", -2}, {"m", -1}, {"", 0},  {"k", 1},
                                       {"M", 2},  {"G", 3},  {"T", 4},  {"P", 5}, {"E", 6}};
constexpr Suffix kBinarySuffixes[] = {{"Ki", 1}, {"Mi", 2}, {"Gi", 3}, {"Ti", 4}, {"Pi", 5}, {"Ei", 6}};

// digits[.digits] scaled by 10^9, rounded up: finer than nano does not exist.
bool ReadMantissa(std::string_view& text, Parsed& out) {
  size_t pos = 0;
  int fraction_digits = -1;
  bool any = false, rest = false;
  Wide value = 0;
  for (; pos < text.size(); ++pos) {
    const char c = text[pos];
    if (c == '.' && fraction_digits < 0) {
      fraction_digits = 0;
      continue;
    }
    if (c < '0' || c > '9') break;
    any = true;
    if (fraction_digits >= 9) {
      rest = rest || c != '0';
      continue;
    }
    value = value * 10 + (c - '0');
    if (fraction_digits >= 0) ++fraction_digits;
    if (value > kLargest) {
      out.too_large = true;
      value = kLargest;
    }
  }
  for (int i = std::max(fraction_digits, 0); i < 9 && !out.too_large; ++i) {
    value *= 10;
    if (value > kLargest) out.too_large = true;
  }
  out.nano = value + (rest ? 1 : 0);
  text.remove_prefix(pos);
  return any;
}

void Scale(Parsed& out, int base, int power) {
  for (; power > 0 && !out.too_large; --power) {
    out.nano *= base;
    if (out.nano > kLargest) out.too_large = true;
  }
  for (; power < 0; ++power) out.nano = (out.nano + base - 1) / base;
}

std::optional<Parsed> Parse(std::string_view text) {
  Parsed out;
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (!ReadMantissa(text, out)) return std::nullopt;
  bool known = false;
  for (const Suffix& suffix : kDecimalSuffixes) {
    if (text == suffix.text) {
      Scale(out, 1000, suffix.power);
      known = true;
    }
  }
  for (const Suffix& suffix : kBinarySuffixes) {
    if (text == suffix.text) {
      Scale(out, 1024, suffix.power);
      out.notation = Notation::kBinary;
      known = true;
    }
  }
  if (!known) {
    if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
    text.remove_prefix(text[1] == '+' ? 2 : 1);
    int exponent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    Scale(out, 10, std::clamp(exponent, -40, 40));
    out.notation = Notation::kExponent;
  }
  if (negative) out.nano = -out.nano;
  return out;
}

std::string Spell(Wide value, std::string_view suffix) { return fmt::format("{}{}", value, suffix); }

std::string SpellBinary(Wide units) {
  int power = 0;
  while (units % 1024 == 0 && power < 6) {
    units /= 1024;
    ++power;
  }
  return Spell(units, power == 0 ? "" : kBinarySuffixes[power - 1].text);
}

std::string SpellDecimal(Wide nano, Notation notation) {
  int power = -3;
  while (nano % 1000 == 0 && power < 6) {
    nano /= 1000;
    ++power;
  }
  if (notation == Notation::kExponent) return power == 0 ? Spell(nano, "") : Spell(nano, fmt::format("e{}", power * 3));
  return Spell(nano, kDecimalSuffixes[power + 3].text);
}

std::string SpellQuantity(const Parsed& parsed) {
  if (parsed.nano == 0) return "0";
  const bool whole_binary = parsed.notation == Notation::kBinary && parsed.nano % kNano == 0 &&
                            (parsed.nano >= 1024 * kNano || parsed.nano <= -1024 * kNano);
  if (whole_binary) return SpellBinary(parsed.nano / kNano);
  return SpellDecimal(parsed.nano, parsed.notation == Notation::kBinary ? Notation::kDecimal : parsed.notation);
}

std::string TextOf(const Json& value) { return value.is_string() ? value.get<std::string>() : base::PrintJson(value); }

}  // namespace

std::optional<std::string> CanonicalQuantity(const Json& value) {
  if (!value.is_string() && !value.is_number()) return std::nullopt;
  std::string text = TextOf(value);
  const std::optional<Parsed> parsed = Parse(text);
  if (!parsed) return std::nullopt;
  if (parsed->too_large) return text;
  return SpellQuantity(*parsed);
}

void CanonicalizeResources(Json& resource_list) {
  if (!resource_list.is_object()) return;
  for (auto& [name, value] : resource_list.items()) {
    if (auto text = CanonicalQuantity(value)) value = std::move(*text);
  }
}

int CompareQuantities(const std::string& a, const std::string& b) {
  const Parsed left = Parse(a).value_or(Parsed{});
  const Parsed right = Parse(b).value_or(Parsed{});
  return left.nano < right.nano ? -1 : left.nano > right.nano ? 1 : 0;
}

std::string AddQuantities(const std::string& a, const std::string& b) {
  const Parsed left = Parse(a).value_or(Parsed{});
  const Parsed right = Parse(b).value_or(Parsed{});
  Parsed sum = left.nano == 0 ? right : left;
  sum.nano = std::clamp(left.nano + right.nano, -kLargest, kLargest);
  return SpellQuantity(sum);
}

std::string MultiplyQuantity(const std::string& quantity, int64_t by) {
  Parsed product = Parse(quantity).value_or(Parsed{});
  const bool negative = (product.nano < 0) != (by < 0);
  if (__builtin_mul_overflow(product.nano, Wide(by), &product.nano)) product.nano = negative ? -kLargest : kLargest;
  product.nano = std::clamp(product.nano, -kLargest, kLargest);
  return SpellQuantity(product);
}

}  // namespace tutti::sim
