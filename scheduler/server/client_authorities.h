// SPDX-License-Identifier: Apache-2.0
// ClientAuthorities: the cluster's client CA, by which client certificates of users are checked. Thread-safe.
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
  // Reads PEM certificates; may block for seconds. It is called when a client presents a certificate, at most once a
  // minute (once a second while none are known), on one thread at a time. Meanwhile the known ones stay in use.
  using ReadPem = std::function<base::Result<std::string>()>;

  // Without `read`, clients are not asked for a certificate. `clock` outlives this.
  ClientAuthorities(ReadPem read, const base::Clock& clock) : read_(std::move(read)), clock_(clock) {}

  // Makes `context` ask clients for a certificate and accept any; UserOf judges it when a request needs a user.
  void Install(SSL_CTX& context) const;

  // Returns the user of the client's certificate; nullopt: the client presented none. Errors: kInvalid, the certificate
  // is not trusted or its CN is empty; kUnavailable, it cannot be judged yet.
  base::Result<std::optional<User>> UserOf(const SSL* ssl);
  // The same of a certificate in PEM, for a library that makes its own handshakes. `chain`: the others that the client
  // sent. Both empty: it presented none.
  base::Result<std::optional<User>> UserOf(const std::string& certificate, const std::string& chain);

 private:
  struct Trust {
    std::shared_ptr<X509_STORE> store;  // null: the text that was read is no PEM
    bool unknown = true;                // no read has succeeded yet
    base::Millis read_ms = 0;
  };
  base::Result<std::optional<User>> Judge(X509* leaf, STACK_OF(X509) * others);
  bool IsFresh(const Trust* trust) const;
  std::shared_ptr<const Trust> Current();
  std::shared_ptr<const Trust> Read(const Trust* known);

  const ReadPem read_;
  const base::Clock& clock_;
  observe::Published<Trust> trust_;
  std::binary_semaphore reading_{1};
};

}  // namespace tutti::server
