// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/label_syntax.h"

#include <algorithm>
#include <charconv>

namespace tutti::plugins {
namespace {

constexpr size_t kLongestName = 63;
constexpr size_t kLongestSubdomain = 253;

bool Lower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool Alphanumeric(char c) { return Lower(c) || (c >= 'A' && c <= 'Z'); }

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && Alphanumeric(text.front()) && Alphanumeric(text.back()) &&
         std::ranges::all_of(text, [](char c) { return Alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

bool IsDnsSubdomain(std::string_view text) {
  if (text.empty() || text.size() > kLongestSubdomain) return false;
  for (size_t at = 0; at <= text.size();) {
    const std::string_view part = text.substr(at, text.find('.', at) - at);
    if (part.empty() || !Lower(part.front()) || !Lower(part.back())) return false;
    if (!std::ranges::all_of(part, [](char c) { return Lower(c) || c == '-'; })) return false;
    at += part.size() + 1;
  }
  return true;
}

bool IsQualifiedName(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return IsName(text);
  return IsDnsSubdomain(text.substr(0, slash)) && IsName(text.substr(slash + 1));
}

bool IsLabelValue(std::string_view text) { return text.empty() || IsName(text); }

std::optional<int64_t> ParseInteger(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace tutti::plugins
