// SPDX-License-Identifier: Apache-2.0
#include "server/access.h"

#include <algorithm>

namespace tutti::server {

bool AlwaysAllowed::Covers(std::string_view path) const {
  return std::any_of(paths_.begin(), paths_.end(), [&](const std::string& allowed) {
    if (!allowed.empty() && allowed.back() == '*') {
      return path.substr(0, allowed.size() - 1) == std::string_view(allowed).substr(0, allowed.size() - 1);
    }
    return path == allowed;
  });
}

std::vector<std::string> DefaultAlwaysAllowedPaths() { return {"/healthz", "/readyz", "/livez"}; }

std::string BearerToken(std::string_view header) {
  constexpr std::string_view kScheme = "bearer ";
  if (header.size() <= kScheme.size()) return "";
  const bool bearer = std::equal(kScheme.begin(), kScheme.end(), header.begin(),
                                 [](char want, char got) { return want == (got | 0x20); });
  return bearer ? std::string(header.substr(kScheme.size())) : "";
}

bool IsLoopback(std::string_view address) {
  return address == "::1" || address.starts_with("127.") || address.starts_with("::ffff:127.");
}

}  // namespace tutti::server
