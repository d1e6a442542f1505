// SPDX-License-Identifier: Apache-2.0
// DelegatedAccess: decides about a request by what the API server says, as kube-scheduler's delegated authentication
// and authorization do (k8s.io/apiserver, DelegatingAuthenticatorConfig and DelegatingAuthorizerConfig):
//
//   who:  a client certificate of the cluster's, else a token, else system:anonymous. A credential that is refused,
//         with no other that is accepted, is refused as such.
//   may:  system:masters everything; others what the API server allows them.
//
// Answers are remembered for a while, tokens only as digests. Few questions are open at a time: whoever floods us with
// tokens does not flood the API server through us. Thread-safe.
#pragma once

#include <semaphore>
#include <string>

#include "server/access.h"
#include "server/review_memory.h"

namespace tutti::server {

// kube-scheduler's defaults.
struct AccessTimes {
  base::Millis authenticated_ms = 10'000;  // --authentication-token-webhook-cache-ttl
  base::Millis allowed_ms = 10'000;        // --authorization-webhook-cache-authorized-ttl
  base::Millis denied_ms = 10'000;         // --authorization-webhook-cache-unauthorized-ttl
  base::Millis patience_ms = 2'000;        // until a question has its turn, by the machine's clock
};

// What a request says of its sender.
struct Caller {
  std::string token;                                             // empty: none
  base::Result<std::optional<User>> certificate = std::nullopt;  // nullopt: none; errors as of ClientAuthorities
};

struct Access {
  enum class Kind {
    kAllowed,
    kUnauthenticated,  // 401: a credential of nobody's
    kForbidden,        // 403: somebody, perhaps anonymous, who may not
    kUnavailable,      // 500: the API server gave no answer; nobody is let in meanwhile
  };
  Kind kind = Kind::kUnavailable;
  std::string user;  // for kForbidden
};

class DelegatedAccess {
 public:
  // Without a `review` no token is anybody's, and only system:masters may. Both outlive this.
  DelegatedAccess(AccessReview* review, const AccessTimes& times, const base::Clock& clock)
      : review_(review), times_(times), clock_(clock) {}

  Access Decide(const Caller& caller, std::string_view verb, std::string_view path);

 private:
  base::Result<std::optional<User>> WhoseToken(const std::string& token);
  base::Result<bool> May(const User& user, std::string_view verb, std::string_view path);
  // From memory, else by asking, of which few are under way at a time.
  template <typename Value, typename Question, typename GoodFor>
  base::Result<Value> Ask(ReviewMemory<Value>* memory, const std::string& key, Question question, GoodFor good_for_ms);

  AccessReview* const review_;
  const AccessTimes times_;
  const base::Clock& clock_;
  std::counting_semaphore<> questions_{4};
  ReviewMemory<std::optional<User>> users_;
  ReviewMemory<bool> permissions_;
};

}  // namespace tutti::server
