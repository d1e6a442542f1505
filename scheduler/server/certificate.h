// SPDX-License-Identifier: Apache-2.0
// The serving certificate. It is read from two files, and again when they change, or it is made in memory.
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <memory>
#include <string>

#include "base/result.h"
#include "observe/published.h"

namespace tutti::server {

struct CertificateFiles {
  std::string cert, key;  // PEM; both empty: self-signed
};

// Handshakes use the newest pair. If a new pair cannot be read, the old one stays in use, and each change of the files
// is logged. Thread-safe.
class Certificate {
 public:
  // Reads the pair. Error: kInvalid, naming the file.
  static base::Result<std::shared_ptr<Certificate>> Load(CertificateFiles files);
  // Makes a certificate for `host` and localhost, valid for a year, as kube-scheduler does when it has none.
  static base::Result<std::shared_ptr<Certificate>> SelfSigned(const std::string& host);

  // Makes `context` ask this object at each handshake. REQUIRES: this outlives `context`.
  bool Install(SSL_CTX& context);

  // The newest pair as text, for a library that makes its own handshakes.
  struct Pem {
    std::string certificates, key;  // the certificate is followed by its chain; the key has no passphrase
    friend bool operator==(const Pem&, const Pem&) = default;
  };
  // Error: kInternal, OpenSSL cannot write it.
  base::Result<Pem> CurrentPem();

 private:
  struct Pair {
    std::shared_ptr<X509> cert;
    std::shared_ptr<STACK_OF(X509)> chain;
    std::shared_ptr<EVP_PKEY> key;
    std::string stamp;  // of the files when they were read
  };

  explicit Certificate(CertificateFiles files) : files_(std::move(files)) {}
  static base::Result<std::shared_ptr<const Pair>> Read(const CertificateFiles& files);
  static int OnHandshake(SSL* ssl, void* self);
  std::shared_ptr<const Pair> Current();

  const CertificateFiles files_;
  observe::Published<Pair> pair_;
  std::atomic<size_t> refused_ = 0;  // hash of the stamp of the unreadable files that were logged last; 0: none
};

}  // namespace tutti::server
