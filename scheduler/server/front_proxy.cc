// SPDX-License-Identifier: Apache-2.0
#include "server/front_proxy.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>

#include <algorithm>

#include "base/text.h"

namespace tutti::server {
namespace {

// Returns the values of all headers of these names that are not empty.
std::vector<std::string> ValuesOf(const HeaderFields& headers, const std::vector<std::string>& names) {
  std::vector<std::string> values;
  for (const std::string& wanted : names)
    for (const auto& [name, value] : headers)
      if (!value.empty() && absl::EqualsIgnoreCase(name, wanted)) values.push_back(value);
  return values;
}

std::string FirstOf(std::vector<std::string> values) { return values.empty() ? "" : std::move(values.front()); }

std::optional<char> DecodedByte(std::string_view two) {
  int byte = 0;
  for (const char c : two) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return std::nullopt;
    byte = byte * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return two.size() == 2 ? std::optional(static_cast<char>(byte)) : std::nullopt;
}

// Decodes "%2f". Text that is not well encoded stays as it is.
std::string Unescaped(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const auto byte = DecodedByte(text.substr(i + 1, 2));
    if (!byte) return std::string(text);
    decoded += *byte;
    i += 2;
  }
  return decoded;
}

}  // namespace

bool FrontProxy::HasName(std::string_view name) const {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

std::optional<User> UserIn(const HeaderFields& headers, const FrontProxy& proxy) {
  User user{FirstOf(ValuesOf(headers, proxy.user_headers)), FirstOf(ValuesOf(headers, proxy.uid_headers)),
            ValuesOf(headers, proxy.group_headers), {}};
  if (user.name.empty()) return std::nullopt;
  for (const std::string& prefix : proxy.extra_prefixes)
    for (const auto& [name, value] : headers)
      if (absl::StartsWithIgnoreCase(name, prefix))
        user.extra[Unescaped(base::LowerCase(name.substr(prefix.size())))].push_back(value);
  return user;
}

}  // namespace tutti::server
