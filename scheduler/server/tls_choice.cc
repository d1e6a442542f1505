// SPDX-License-Identifier: Apache-2.0
#include "server/tls_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

namespace tutti::server {
namespace {

constexpr std::pair<std::string_view, int> kVersions[] = {{"VersionTLS10", TLS1_VERSION},
                                                          {"VersionTLS11", TLS1_1_VERSION},
                                                          {"VersionTLS12", TLS1_2_VERSION},
                                                          {"VersionTLS13", TLS1_3_VERSION}};

// All suites that Go knows. As in Go, suites of TLS 1.3 cannot be chosen.
constexpr std::string_view kSuites13[] = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                                          "TLS_CHACHA20_POLY1305_SHA256"};
constexpr std::string_view kSuites[] = {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
                                        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
                                        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
                                        "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
                                        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
                                        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
                                        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
                                        "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
                                        "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
                                        "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
                                        "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
                                        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
                                        "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
                                        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
                                        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
                                        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
                                        "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
                                        "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
                                        "TLS_RSA_WITH_AES_128_CBC_SHA",
                                        "TLS_RSA_WITH_AES_128_CBC_SHA256",
                                        "TLS_RSA_WITH_AES_128_GCM_SHA256",
                                        "TLS_RSA_WITH_AES_256_CBC_SHA",
                                        "TLS_RSA_WITH_AES_256_GCM_SHA384",
                                        "TLS_RSA_WITH_RC4_128_SHA"};

bool Has(const auto& names, std::string_view name) { return std::ranges::find(names, name) != std::end(names); }

// Returns OpenSSL's name of a suite; empty: this build of OpenSSL does not have it.
std::string OpenSslName(std::string suite) {
  if (suite.ends_with("_POLY1305")) suite += "_SHA256";  // Go's older spelling
  const std::string name = OPENSSL_cipher_name(suite.c_str());
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> probe(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  return name != "(NONE)" && SSL_CTX_set_cipher_list(probe.get(), name.c_str()) == 1 ? name : "";
}

}  // namespace

base::Result<TlsChoice> ReadTlsChoice(std::string_view version, const std::vector<std::string>& suites,
                                      std::vector<std::string>* notes) {
  TlsChoice choice;
  if (!version.empty()) {
    const auto known = std::ranges::find(kVersions, version, &std::pair<std::string_view, int>::first);
    if (known == std::end(kVersions))
      return base::Invalid(fmt::format(
          "--tls-min-version: \"{}\" is not known; write VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13",
          version));
    choice.least_version = known->second;
  }
  bool any_of_12 = false;
  for (const std::string& suite : suites) {
    if (Has(kSuites13, suite)) continue;
    if (!Has(kSuites, suite))
      return base::Invalid(fmt::format("--tls-cipher-suites: \"{}\" is not known; known are {}, {}", suite,
                                       fmt::join(kSuites, ", "), fmt::join(kSuites13, ", ")));
    any_of_12 = true;
    const std::string name = OpenSslName(suite);
    if (name.empty())
      notes->push_back(fmt::format("--tls-cipher-suites: {} is too weak and is not offered", suite));
    else
      choice.ciphers += (choice.ciphers.empty() ? "" : ":") + name;
  }
  if (any_of_12 && choice.ciphers.empty())
    return base::Invalid("--tls-cipher-suites: every suite of TLS 1.2 that it names is too weak; name another one");
  // A list with only suites of TLS 1.3 means TLS 1.3.
  if (!suites.empty() && !any_of_12) choice.least_version = TLS1_3_VERSION;
  return choice;
}

bool Apply(const TlsChoice& choice, SSL_CTX& context) {
  return SSL_CTX_set_min_proto_version(&context, choice.least_version) == 1 &&
         (choice.ciphers.empty() || SSL_CTX_set_cipher_list(&context, choice.ciphers.c_str()) == 1);
}

}  // namespace tutti::server
