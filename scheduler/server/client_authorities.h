// SPDX-License-Identifier: Apache-2.0
// ClientAuthorities: who signs client certificates: the cluster's client CA those of users, and another CA those of the
// front proxy. Thread-safe.
//
// A user certificate's CN is the user, its O are the groups (k8s.io/apiserver, x509.CommonNameUserConversion). With the
// front proxy's certificate the request is of the user that its headers name.
#pragma once

#include <openssl/ssl.h>

#include <functional>
#include <memory>
#include <optional>
#include <semaphore>

#include "base/clock.h"
#include "observe/published.h"
#include "server/access.h"
#include "server/front_proxy.h"

namespace tutti::server {

class ClientAuthorities {
 public:
  struct Trust {
    std::string client_ca;  // in PEM
    std::optional<FrontProxy> proxy = std::nullopt;  // nullopt: it is not known, and stays what it was
  };
  // May block for seconds. It is called when a client presents a certificate, at most once a minute (once a second
  // while no client CA is known), on one thread at a time. Meanwhile what is known stays in use.
  using ReadTrust = std::function<base::Result<Trust>()>;

  // Without `read`, clients are not asked for a certificate. `clock` outlives this.
  ClientAuthorities(ReadTrust read, const base::Clock& clock) : read_(std::move(read)), clock_(clock) {}

  // Makes `context` ask clients for a certificate and accept any; UserOf judges it when a request needs a user.
  void Install(SSL_CTX& context) const;

  // Returns the user of the request with these headers, by the client's certificate; nullopt: the client presented
  // none. Errors: kInvalid, the certificate is not trusted or its CN is empty; kUnavailable, it cannot be judged yet.
  base::Result<std::optional<User>> UserOf(const SSL* ssl, const HeaderFields& headers);
  // The same of a certificate in PEM, for a library that makes its own handshakes and has no front proxy. `chain`: the
  // others that the client sent. Both empty: it presented none.
  base::Result<std::optional<User>> UserOf(const std::string& certificate, const std::string& chain);

 private:
  struct Known {
    std::shared_ptr<X509_STORE> clients;  // null: the text that was read is no PEM
    std::shared_ptr<X509_STORE> proxies;  // null: there is no front proxy
    FrontProxy proxy;
    bool unknown = true;  // no read has succeeded yet
    base::Millis read_ms = 0;
  };
  base::Result<std::optional<User>> Judge(X509* leaf, STACK_OF(X509) * others, const HeaderFields& headers);
  bool IsFresh(const Known* known) const;
  std::shared_ptr<const Known> Current();
  std::shared_ptr<const Known> Read(const Known* known);

  const ReadTrust read_;
  const base::Clock& clock_;
  observe::Published<Known> known_;
  std::binary_semaphore reading_{1};
};

}  // namespace tutti::server
