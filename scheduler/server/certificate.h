// SPDX-License-Identifier: Apache-2.0
// The serving certificate: from two files, read again when they change, or made in memory.
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

// Thread-safe. Handshakes use the newest pair; a pair that cannot be read leaves the old one in use, with a log line
// for each change of the files.
class Certificate {
 public:
  // Error: kInvalid, naming the file.
  static base::Result<std::shared_ptr<Certificate>> Load(CertificateFiles files);
  // For `host` and localhost, good for a year: as kube-scheduler makes one when it is given none.
  static base::Result<std::shared_ptr<Certificate>> SelfSigned(const std::string& host);

  // Makes `context` ask this object at each handshake. REQUIRES: this outlives `context`.
  bool Install(SSL_CTX& context);

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
  std::atomic<size_t> refused_ = 0;  // hash of the stamp of the files that were last said to be of no use; 0: none
};

}  // namespace tutti::server
