// SPDX-License-Identifier: Apache-2.0
// Channels of tests: TLS to a server whose certificate is not checked.
#pragma once

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <memory>
#include <string>

namespace tutti::rpc {

// `certificate` and `key` are PEM, and both empty for a client that has none.
inline std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address, const std::string& certificate = "",
                                                const std::string& key = "", const grpc::ChannelArguments& more = {}) {
  namespace tls = grpc::experimental;
  tls::TlsChannelCredentialsOptions options;
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  options.set_certificate_verifier(std::make_shared<tls::NoOpCertificateVerifier>());
  if (!certificate.empty()) {
    options.set_certificate_provider(std::make_shared<tls::StaticDataCertificateProvider>(
        std::vector<tls::IdentityKeyCertPair>{{key, certificate}}));
    options.watch_identity_key_cert_pairs();
  }
  grpc::ChannelArguments arguments = more;
  // Each channel has connections of its own.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, tls::TlsCredentials(options), arguments);
}

}  // namespace tutti::rpc
