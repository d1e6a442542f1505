// SPDX-License-Identifier: Apache-2.0
// Who may read what: as in kube-scheduler, the API server is asked who a token is (TokenReview) and whether that user
// may do it to the path (SubjectAccessReview). This room only knows the questions; app/ has the API server answer them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tutti::server {

// As authentication.k8s.io/v1 UserInfo.
struct User {
  std::string name, uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
  friend bool operator==(const User&, const User&) = default;
};

// Called on server threads, several at a time; may block for seconds. Errors: kUnavailable, the API server gave no
// answer.
class AccessReview {
 public:
  virtual ~AccessReview() = default;
  // nullopt: nobody's token. `token` is never empty.
  virtual base::Result<std::optional<User>> Authenticate(std::string_view token) = 0;
  // `verb`: "get"; `path`: as requested, without the query.
  virtual base::Result<bool> Authorize(const User& user, std::string_view verb, std::string_view path) = 0;
};

// --authorization-always-allow-paths: exact paths, or a prefix where one ends in "*".
class AlwaysAllowed {
 public:
  explicit AlwaysAllowed(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  bool Covers(std::string_view path) const;

 private:
  std::vector<std::string> paths_;
};

// kube-scheduler's default: the health paths.
std::vector<std::string> DefaultAlwaysAllowedPaths();

// The token of "Bearer TOKEN"; empty for anything else.
std::string BearerToken(std::string_view authorization_header);

// Whether a peer's address is this machine's own: 127.0.0.0/8, ::1, or the former written as IPv6.
bool IsLoopback(std::string_view address);

}  // namespace tutti::server
