// SPDX-License-Identifier: Apache-2.0
// DelegatedAccess: decides about a request by the API server's answers, like kube-scheduler's delegated authentication
// and authorization (k8s.io/apiserver, DelegatingAuthenticatorConfig and DelegatingAuthorizerConfig):
//
//   who:  the user of a client certificate of the cluster, else of a token, else system:anonymous. If a credential is
//         refused and no other is accepted, so is the request.
//   may:  system:masters may do everything, others what the API server allows.
//
// Answers are remembered for a while, and tokens only as digests. Few questions are open at a time, so a flood of
// tokens to this server does not become a flood to the API server. Thread-safe.
#pragma once

#include <initializer_list>
#include <memory>
#include <semaphore>
#include <string>

#include "server/access.h"
#include "server/folder.h"
#include "server/review_memory.h"

namespace tutti::server {

// kube-scheduler's defaults.
struct AccessTimes {
  base::Millis authenticated_ms = 10'000;  // --authentication-token-webhook-cache-ttl
  base::Millis allowed_ms = 10'000;        // --authorization-webhook-cache-authorized-ttl
  base::Millis denied_ms = 10'000;         // --authorization-webhook-cache-unauthorized-ttl
  base::Millis patience_ms = 2'000;        // the longest wait until a question is sent, by the machine's clock
};

// The credentials of a request.
struct Caller {
  std::string token;                                             // empty: none
  base::Result<std::optional<User>> certificate = std::nullopt;  // nullopt: none; errors as of ClientAuthorities
};

struct Access {
  enum class Kind {
    kAllowed,
    kUnauthenticated,  // 401: an invalid credential
    kForbidden,        // 403: the user, perhaps anonymous, may not
    kUnavailable,      // 500: the API server gave no answer; until then requests are refused
  };
  Kind kind = Kind::kUnavailable;
  std::string user;  // for kForbidden
};

class DelegatedAccess {
 public:
  // Without a `review` no token is valid, and only system:masters may read. `review` and `clock` outlive this.
  DelegatedAccess(AccessReview* review, const AccessTimes& times, const base::Clock& clock)
      : review_(review), times_(times), clock_(clock) {}

  Access Decide(const Caller& caller, std::string_view verb, std::string_view path);

  // Tells who the caller is, perhaps system:anonymous; null: `refused` says why not. What that user may is asked
  // when it matters. This outlives the rights.
  struct Identity {
    std::shared_ptr<const Rights> rights;
    Access refused = {};
  };
  Identity Identify(const Caller& caller);

 private:
  class UserRights;
  struct Sender {
    std::optional<User> user;
    Access::Kind refused = Access::Kind::kUnavailable;  // without a user
  };
  Sender SenderOf(const Caller& caller);
  base::Result<std::optional<User>> WhoseToken(const std::string& token);
  base::Result<bool> May(const User& user, std::string_view verb, std::string_view path);
  base::Result<bool> MayAccess(const User& user, const ResourceAccess& access);
  // Remembers the answer to `question` as what the user may do: `what` tells it from all else.
  template <typename Question>
  base::Result<bool> MayDo(const User& user, std::initializer_list<std::string_view> what, Question question);
  // Answers from memory, or else asks. Only a few questions are under way at a time.
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
