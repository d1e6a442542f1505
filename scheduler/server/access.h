// SPDX-License-Identifier: Apache-2.0
// Who may read what: as in kube-scheduler, the API server is asked who a token is (TokenReview) and whether that user
// may `get` the path (SubjectAccessReview). This room only knows the question; app/ has the API server answer it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::server {

enum class Access {
  kAllowed,
  kUnauthenticated,  // 401: no token, or nobody's
  kForbidden,        // 403: somebody, who may not
  kUnavailable,      // 500: the API server gave no answer; nobody is let in meanwhile
};

// Called on server threads, several at a time; may block for seconds.
class AccessReview {
 public:
  virtual ~AccessReview() = default;
  // `token`: of the Authorization header, never empty. `path`: as requested, without the query.
  virtual Access Review(std::string_view token, std::string_view path) = 0;
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

}  // namespace tutti::server
