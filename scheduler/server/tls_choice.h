// SPDX-License-Identifier: Apache-2.0
// TlsChoice: the versions and cipher suites of TLS, from kube-scheduler's flags --tls-min-version and
// --tls-cipher-suites.
#pragma once

#include <openssl/ssl.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tutti::server {

struct TlsChoice {
  int least_version = TLS1_2_VERSION;  // OpenSSL's number
  std::string ciphers;                 // of TLS 1.2 and before, as an OpenSSL list; empty: OpenSSL's default
};

// Reads the flags. `version`: "VersionTLS12"; empty: the default. `suites`: Go's names. Adds names without effect to
// `notes`. Error: kInvalid, naming the flag and its possible values.
base::Result<TlsChoice> ReadTlsChoice(std::string_view version, const std::vector<std::string>& suites,
                                      std::vector<std::string>* notes);

// Applies the choice to `context`. False: OpenSSL refuses it.
bool Apply(const TlsChoice& choice, SSL_CTX& context);

}  // namespace tutti::server
