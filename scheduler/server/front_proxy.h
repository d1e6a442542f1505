// SPDX-License-Identifier: Apache-2.0
// FrontProxy: a proxy that says in headers whose requests it passes on, such as the API server for an aggregated API.
// It shows that it may by a client certificate.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/access.h"

namespace tutti::server {

// As the cluster declares it; see app/access_review.h.
struct FrontProxy {
  std::string ca;                  // who signs its certificates, in PEM; empty: there is no such proxy
  std::vector<std::string> names;  // the common names of its certificates; empty: any
  // The headers with the user's name, its UID and its groups, and what the headers of its extras begin with.
  std::vector<std::string> user_headers, uid_headers, group_headers, extra_prefixes;

  // Tells whether a certificate of this common name may be the proxy's.
  bool HasName(std::string_view name) const;
};

// The headers of a request: name and value.
using HeaderFields = std::vector<std::pair<std::string, std::string>>;

// Returns the user that the headers name; nullopt: they name none. REQUIRES: they come from the proxy.
std::optional<User> UserIn(const HeaderFields& headers, const FrontProxy& proxy);

}  // namespace tutti::server
