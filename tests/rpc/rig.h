// SPDX-License-Identifier: Apache-2.0
// A gRPC server over a scheduler that does not run, and clients for it.
#pragma once

#include <grpcpp/client_context.h>
#include <tutti/v1/decisions.grpc.pb.h>

#include <memory>
#include <string>
#include <utility>

#include "rpc/grpc_server.h"
#include "tests/doors/rig.h"
#include "tests/rpc/channel.h"
#include "tests/server/rig.h"

namespace tutti::rpc {

// The token admin sees everything, prometheus the namespace "monitoring".
struct Rig {
  server::SkippingClock clock;
  doors::Stage stage;
  server::Reviewer reviewer;
  server::ServerOptions options = server::OnLoopback();
  server::ClientAuthorities::ReadTrust client_trust;
  std::unique_ptr<doors::Desk> desk;
  std::unique_ptr<GrpcServer> server;

  // What the stage shows first is to be there before this.
  void Start() {
    desk = std::make_unique<doors::Desk>(stage, clock);
    auto started = GrpcServer::Start(options, *desk, clock, &reviewer, client_trust);
    REQUIRE(started);
    server = *std::move(started);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(server->port()); }
  std::unique_ptr<v1::Decisions::Stub> Decisions(const std::string& certificate = "", const std::string& key = "") {
    return v1::Decisions::NewStub(ChannelTo(address(), certificate, key));
  }
};

inline std::unique_ptr<grpc::ClientContext> As(const std::string& token) {
  auto context = std::make_unique<grpc::ClientContext>();
  if (!token.empty()) context->AddMetadata("authorization", "Bearer " + token);
  return context;
}

// Lists the gangs of a namespace; empty: of all.
inline std::pair<grpc::Status, v1::ListGangsResponse> List(v1::Decisions::Stub& decisions, const std::string& token,
                                                           const std::string& ns = "") {
  v1::ListGangsRequest request;
  request.set_namespace_(ns);
  v1::ListGangsResponse response;
  const auto context = As(token);
  return {decisions.List(context.get(), request, &response), response};
}

}  // namespace tutti::rpc
