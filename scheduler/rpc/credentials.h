// SPDX-License-Identifier: Apache-2.0
// Credentials: the serving certificate as the gRPC library takes it. Each handshake uses the newest pair.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "rpc/client_ca.h"
#include "server/certificate.h"

namespace tutti::rpc {

// If there is a client CA, clients are asked for a certificate of it, and any is accepted: ClientAuthorities judges it
// later. `client_ca` outlives the credentials.
std::shared_ptr<grpc::ServerCredentials> MakeCredentials(std::shared_ptr<server::Certificate> certificate,
                                                         ClientCa& client_ca);

}  // namespace tutti::rpc
