// SPDX-License-Identifier: Apache-2.0
// TlsChoice: which TLS is spoken, as kube-scheduler's flags --tls-min-version and --tls-cipher-suites say it.
#pragma once

#include <openssl/ssl.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tutti::server {

struct TlsChoice {
  int least_version = TLS1_2_VERSION;  // OpenSSL's number
  std::string ciphers;                 // of TLS 1.2 and before, as OpenSSL lists them; empty: the library's own choice
};

// `version`: "VersionTLS12"; empty: the default. `suites`: Go's names. Names that mean nothing here are added to
// `notes`. Error: kInvalid, naming the flag and what it knows.
base::Result<TlsChoice> ReadTlsChoice(std::string_view version, const std::vector<std::string>& suites,
                                      std::vector<std::string>* notes);

// False: OpenSSL does not take it.
bool Apply(const TlsChoice& choice, SSL_CTX& context);

}  // namespace tutti::server
