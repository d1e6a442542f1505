// SPDX-License-Identifier: Apache-2.0
#include "rpc/grpc_server.h"

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <utility>
#include <vector>

#include "rpc/credentials.h"
#include "rpc/front.h"
#include "rpc/services.h"
#include "server/acceptor.h"

namespace tutti::rpc {
namespace {

constexpr int kStreamsOfConnection = 100;
constexpr int kHeaderBytes = 16 * 1024;
constexpr int kHandshakeMs = 10'000;
constexpr int kIdleMs = 300'000;
// A connection on which nothing is heard for this time is asked for a sign of life, and cut off without one.
constexpr int kKeepaliveMs = 60'000, kKeepaliveTimeoutMs = 20'000;
constexpr int kLeastPingMs = 20'000;  // clients may ask as often
// Requests that are being read take no more memory than this.
constexpr size_t kReadBytes = 64 << 20;
// Reflection holds a thread for each of its streams.
constexpr int kReflectionThreads = 16;

void Tune(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(GrpcServer::kMostRequestBytes);
  // What a small message becomes when it is decompressed has no bound.
  for (const auto algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP})
    builder.SetCompressionAlgorithmSupportStatus(algorithm, false);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsOfConnection);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kHeaderBytes);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kLeastPingMs);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 1);
  grpc::ResourceQuota quota("tutti");
  quota.Resize(kReadBytes).SetMaxThreads(kReflectionThreads);
  builder.SetResourceQuota(quota);
}

// The library's own lines are not JSON, and every client could fill the log with them.
void SilenceLibrary() {
  gpr_set_log_function([](gpr_log_func_args*) {});
}

base::Status CheckTls(const server::TlsChoice& tls) {
  if (tls.least_version > TLS1_2_VERSION)
    return base::Invalid(
        "--grpc-port: gRPC also takes TLS 1.2, so it cannot be served with --tls-min-version "
        "VersionTLS13 or with cipher suites of TLS 1.3 alone");
  if (!tls.ciphers.empty())
    return base::Invalid(
        "--grpc-port: gRPC has its own cipher suites, so it cannot be served with "
        "--tls-cipher-suites");
  return {};
}

}  // namespace

// Destroyed in reverse order.
struct GrpcServer::Impl {
  template <typename... Arguments>
  explicit Impl(Arguments&&... arguments) : front(std::forward<Arguments>(arguments)...) {}

  Front front;
  std::vector<std::unique_ptr<grpc::Service>> services;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<server::Acceptor> acceptor;
};

base::Result<std::unique_ptr<GrpcServer>> GrpcServer::Start(const server::ServerOptions& options, doors::Desk& desk,
                                                            const base::Clock& clock, server::AccessReview* review,
                                                            server::ClientAuthorities::ReadTrust client_trust) {
  if (const base::Status tls = CheckTls(options.tls); !tls) return tl::make_unexpected(tls.error());
  auto certificate = options.certificate.cert.empty() ? server::Certificate::SelfSigned(options.bind_address)
                                                      : server::Certificate::Load(options.certificate);
  if (!certificate) return tl::make_unexpected(certificate.error());
  auto acceptor = server::Acceptor::Listen({options.bind_address, options.port, options.share_port, kMostConnections});
  if (!acceptor)
    return base::Fail(acceptor.error().code,
                      fmt::format("cannot listen on {}:{}: {}; choose another port with --grpc-port",
                                  options.bind_address, options.port, acceptor.error().message));
  SilenceLibrary();
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  auto impl = std::make_unique<Impl>(desk, options, review, std::move(client_trust), clock);
  grpc::ServerBuilder builder;
  Tune(builder);
  impl->services = MakeServices(impl->front);
  for (const auto& service : impl->services) builder.RegisterService(service.get());
  using Experimental = grpc::ServerBuilder::experimental_type;
  impl->connections = Experimental(&builder).AddExternalConnectionAcceptor(
      Experimental::ExternalConnectionType::FROM_FD, MakeCredentials(*std::move(certificate), impl->front.client_ca));
  impl->server = builder.BuildAndStart();
  if (!impl->server) return base::Fail(base::ErrorCode::kInternal, "--grpc-port: the gRPC library does not start");
  impl->acceptor = *std::move(acceptor);
  impl->acceptor->Begin([connections = impl->connections.get()](int socket) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = socket;
    connections->HandleNewConnection(&connection);
  });
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

GrpcServer::~GrpcServer() {
  impl_->front.stopping = true;
  impl_->acceptor.reset();
  impl_->server->Shutdown(std::chrono::system_clock::now());
}

int GrpcServer::port() const { return impl_->acceptor->port(); }

}  // namespace tutti::rpc
