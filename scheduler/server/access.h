// SPDX-License-Identifier: Apache-2.0
// Decides who may read which page. As in kube-scheduler, the API server says whose token it is (TokenReview), and
// whether that user may read the path (SubjectAccessReview). This room has the questions; app/ sends them to the API
// server.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tutti::server {

// A user, as authentication.k8s.io/v1 UserInfo.
struct User {
  std::string name, uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
  friend bool operator==(const User&, const User&) = default;
};

// What is done to objects, as authorization.k8s.io/v1 ResourceAttributes.
struct ResourceAccess {
  std::string verb, group, version, resource, subresource;
  std::string ns;    // empty: in all namespaces, or the objects have none
  std::string name;  // empty: to all
};

// Asks the API server. Called on several server threads at once; may block for seconds. Error: kUnavailable, the API
// server gave no answer.
class AccessReview {
 public:
  virtual ~AccessReview() = default;
  // Returns the token's user; nullopt: the token is not valid. `token` is never empty.
  virtual base::Result<std::optional<User>> Authenticate(std::string_view token) = 0;
  // Tells whether the user may do `verb` ("get") to `path`, which has no query.
  virtual base::Result<bool> Authorize(const User& user, std::string_view verb, std::string_view path) = 0;
  // Tells whether the user may do that to objects.
  virtual base::Result<bool> AuthorizeResource(const User& user, const ResourceAccess& access) = 0;
};

// The paths of --authorization-always-allow-paths: exact ones, or prefixes that end in "*".
class AlwaysAllowed {
 public:
  explicit AlwaysAllowed(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  bool Covers(std::string_view path) const;

 private:
  std::vector<std::string> paths_;
};

// Returns kube-scheduler's default: the health paths.
std::vector<std::string> DefaultAlwaysAllowedPaths();

// Returns the token of "Bearer TOKEN"; empty for any other text.
std::string BearerToken(std::string_view authorization_header);

// Tells whether a peer's address is this machine's own: 127.0.0.0/8, ::1, or the former written as IPv6.
bool IsLoopback(std::string_view address);

}  // namespace tutti::server
