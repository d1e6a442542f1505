// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "base/json.h"

namespace tutti::base {
namespace {

constexpr std::string_view kTrues[] = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
constexpr std::string_view kFalses[] = {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
constexpr size_t kLongestBoolean = 5;

std::optional<bool> AsBoolean(std::string_view text) {
  if (text.size() > kLongestBoolean) return std::nullopt;
  if (std::ranges::find(kTrues, text) != std::end(kTrues)) return true;
  if (std::ranges::find(kFalses, text) != std::end(kFalses)) return false;
  return std::nullopt;
}

bool IsNull(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

// Go's ParseInt(text, base 0): 0x, 0o, 0b, and a leading 0 means octal.
std::optional<Json> AsInteger(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) text.remove_prefix(1);
  int base = 10;
  const auto starts = [&](char lower, char upper) {
    return text.size() > 2 && text[0] == '0' && (text[1] == lower || text[1] == upper);
  };
  if (starts('x', 'X')) {
    base = 16;
    text.remove_prefix(2);
  } else if (starts('o', 'O')) {
    base = 8;
    text.remove_prefix(2);
  } else if (starts('b', 'B')) {
    base = 2;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (!negative) return magnitude <= INT64_MAX ? Json(int64_t(magnitude)) : Json(magnitude);
  if (magnitude > uint64_t(INT64_MAX) + 1) return std::nullopt;
  return Json(int64_t(0 - magnitude));
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  size_t i = 0;
  const auto digits = [&] {
    const size_t begin = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - begin;
  };
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  const size_t whole = digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

std::optional<Json> AsFloat(const std::string& text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  const double value = std::strtod(text.c_str(), nullptr);
  if (!std::isfinite(value)) return std::nullopt;
  // On its way through JSON 1.0 becomes 1, which everyone then reads as an integer.
  if (value == std::floor(value) && std::fabs(value) < 9.0e15) return Json(int64_t(value));
  return Json(value);
}

}  // namespace

std::optional<Json> PlainScalar(const std::string& text) {
  if (IsNull(text)) return Json(nullptr);
  if (const auto boolean = AsBoolean(text)) return Json(*boolean);
  if (std::string_view("+-.0123456789").find(text[0]) == std::string_view::npos) return Json(text);
  if (text == ".inf" || text == "-.inf" || text == ".nan") return std::nullopt;
  std::string plain = text;
  std::erase(plain, '_');
  if (auto integer = AsInteger(plain)) return integer;
  if (auto number = AsFloat(plain)) return number;
  return Json(text);
}

}  // namespace tutti::base
