// SPDX-License-Identifier: Apache-2.0
// ClientAuthorities: who may vouch for users by client certificates: the cluster's client CA. Thread-safe.
//
// A certificate's CN is the user, its O are the groups (k8s.io/apiserver, x509.CommonNameUserConversion).
#pragma once

#include <openssl/ssl.h>

#include <functional>
#include <memory>
#include <semaphore>

#include "base/clock.h"
#include "observe/published.h"
#include "server/access.h"

namespace tutti::server {

class ClientAuthorities {
 public:
  // PEM certificates; may block for seconds. Asked for when a certificate is presented, once a minute at most (while
  // there are none, once a second), by one thread at a time: what is known meanwhile stays in use.
  using ReadPem = std::function<base::Result<std::string>()>;

  // Without `read` no certificate is asked for. `clock` outlives this.
  ClientAuthorities(ReadPem read, const base::Clock& clock) : read_(std::move(read)), clock_(clock) {}

  // Makes `context` ask for a certificate, and take any: what it is worth is judged when a request needs a user.
  void Install(SSL_CTX& context) const;

  // nullopt: none was presented. Errors: kInvalid, one that is not trusted, or whose CN is empty; kUnavailable, it
  // cannot be judged yet.
  base::Result<std::optional<User>> UserOf(const SSL* ssl);

 private:
  struct Trust {
    std::shared_ptr<X509_STORE> store;  // null: what was read is no PEM
    bool unknown = true;                // there was no answer yet
    base::Millis read_ms = 0;
  };
  bool IsFresh(const Trust* trust) const;
  std::shared_ptr<const Trust> Current();
  std::shared_ptr<const Trust> Read(const Trust* known);

  const ReadPem read_;
  const base::Clock& clock_;
  observe::Published<Trust> trust_;
  std::binary_semaphore reading_{1};
};

}  // namespace tutti::server
