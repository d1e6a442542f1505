// SPDX-License-Identifier: Apache-2.0
// GrpcServer: the services of proto/tutti/v1 over gRPC and TLS, on a port of their own, with the standard services for
// health and reflection. Callers and their rights are as at the door of HTTPS: a bearer token in the metadata
// `authorization`, or a client certificate. Health and reflection, which tell nothing of the cluster, are open to all.
#pragma once

#include <memory>

#include "base/result.h"
#include "doors/desk.h"
#include "server/server.h"

namespace tutti::rpc {

class GrpcServer {
 public:
  static constexpr int kMostConnections = 256;
  // Calls with one answer, under way or waiting for their turn, and callers that are not known yet.
  static constexpr int kMostCalls = 256, kMostCallsEach = 32;
  static constexpr int kMostStreams = 128, kMostStreamsEach = 8;
  static constexpr int kMostRequestBytes = (1 << 20) + 16 * 1024;  // manifests of 1 MiB, and what names the question
  // A call without a deadline of its own ends after this time. So does a stream whose reader takes nothing.
  static constexpr base::Millis kLongestMs = 60'000;

  // Listens at the address and port of `options`, and serves until destroyed. The arguments are as those of
  // server::Server::Start, and outlive this. Errors: kInvalid (a certificate; a TLS flag that gRPC does not have),
  // kUnavailable (the address).
  static base::Result<std::unique_ptr<GrpcServer>> Start(const server::ServerOptions& options, doors::Desk& desk,
                                                         const base::Clock& clock, server::AccessReview* review,
                                                         server::ClientAuthorities::ReadTrust client_trust = {});
  ~GrpcServer();

  int port() const;

 private:
  struct Impl;
  explicit GrpcServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace tutti::rpc
