// SPDX-License-Identifier: Apache-2.0
#include "rpc/credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"

namespace tutti::rpc {
namespace {

// The library's own class of this kind takes a pair once and for all; its C interface asks for one at each handshake.
class ReloadedCredentials final : public grpc::ServerCredentials {
 public:
  ReloadedCredentials(std::shared_ptr<server::Certificate> certificate, ClientCa& client_ca)
      : certificate_(std::move(certificate)), client_ca_(client_ca) {}

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    const auto ask = client_ca_.exists() ? GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_BUT_DONT_VERIFY
                                         : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
    grpc_server_credentials* made = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(ask, &OnHandshake, this));
    const int port = grpc_server_add_http2_port(server, address.c_str(), made);
    grpc_server_credentials_release(made);
    return port;
  }

  static grpc_ssl_certificate_config_reload_status OnHandshake(void* self,
                                                               grpc_ssl_server_certificate_config** config) {
    return static_cast<ReloadedCredentials*>(self)->Give(config);
  }

  grpc_ssl_certificate_config_reload_status Give(grpc_ssl_server_certificate_config** config) {
    auto pem = certificate_->CurrentPem();
    if (!pem) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;  // the former pair stays in use
    std::string roots = client_ca_.Known();
    // The library insists on some. Until the CA is known, a client finds that no certificate of its own is asked for.
    if (roots.empty()) roots = pem->certificates;
    const base::MutexLock lock(mutex_);
    if (given_ == *pem && roots_ == roots) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const grpc_ssl_pem_key_cert_pair pair{pem->key.c_str(), pem->certificates.c_str()};
    *config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);
    given_ = *std::move(pem);
    roots_ = std::move(roots);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const std::shared_ptr<server::Certificate> certificate_;
  ClientCa& client_ca_;
  base::Mutex mutex_;
  std::optional<server::Certificate::Pem> given_ ABSL_GUARDED_BY(mutex_);
  std::string roots_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakeCredentials(std::shared_ptr<server::Certificate> certificate,
                                                         ClientCa& client_ca) {
  return std::make_shared<ReloadedCredentials>(std::move(certificate), client_ca);
}

}  // namespace tutti::rpc
