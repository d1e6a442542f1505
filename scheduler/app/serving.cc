// SPDX-License-Identifier: Apache-2.0
#include "app/serving.h"

#include <fmt/format.h>

#include "app/access_review.h"
#include "base/file.h"
#include "base/log.h"
#include "kube/pem.h"
#include "rpc/grpc_server.h"

namespace tutti::app {
namespace {

// The sink of a client that has no feed: it ignores events.
class NoEvents final : public cluster::EventSink {
  void Post(cluster::FeedEvent) override {}
};

base::Result<std::unique_ptr<kube::KubeClient>> Connect(const char* flag, const std::string& file,
                                                        const base::Clock& clock, cluster::EventSink& sink) {
  if (file.empty()) return nullptr;
  const auto config = kube::LoadConfig({file, "", ""});
  if (!config) return base::Invalid(fmt::format("{}: {}", flag, config.error().message));
  kube::KubeClient::Options options;
  options.version = TUTTI_VERSION;
  return std::make_unique<kube::KubeClient>(*config, options, clock, sink);
}

// Returns who signs client certificates, as the flags have it; empty: clients are not asked for any. Errors name the
// flag.
base::Result<server::ClientAuthorities::ReadTrust> TrustOf(const RunFlags& flags, kube::KubeClient& authenticator) {
  using Trust = server::ClientAuthorities::Trust;
  server::ClientAuthorities::ReadTrust of_cluster;
  if (!flags.authentication_skip_lookup) of_cluster = [&authenticator] { return ClusterTrust(authenticator); };
  if (flags.client_ca_file.empty()) {
    if (of_cluster && !flags.authentication_tolerate_lookup_failure)
      if (const auto read = of_cluster(); !read)
        return base::Fail(base::ErrorCode::kUnavailable,
                          "--authentication-tolerate-lookup-failure=false: " + read.error().message);
    return of_cluster;
  }
  const auto read = base::ReadFile(flags.client_ca_file);
  if (!read) return base::Invalid("--client-ca-file: " + read.error().message);
  if (!kube::HoldsCertificate(*read))
    return base::Invalid(fmt::format("--client-ca-file: {}: holds no certificate in PEM", flags.client_ca_file));
  return [file = flags.client_ca_file, of_cluster]() -> base::Result<Trust> {
    auto client_ca = base::ReadFile(file);
    if (!client_ca) return tl::make_unexpected(client_ca.error());
    Trust trust{*std::move(client_ca)};
    if (of_cluster)
      if (auto known = of_cluster()) trust.proxy = std::move(known->proxy);
    return trust;
  };
}

}  // namespace

// Members are destroyed in reverse order: the servers first, then the clients that it asks.
struct Serving::Parts {
  NoEvents sink;
  std::unique_ptr<kube::KubeClient> authentication, authorization;
  std::unique_ptr<ApiAccessReview> review;
  std::unique_ptr<server::Server> server;
  std::unique_ptr<rpc::GrpcServer> grpc;
};

Serving::Serving(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

// Shuts the clients down without waiting for their answers.
Serving::~Serving() {
  for (kube::KubeClient* asked : {parts_->authentication.get(), parts_->authorization.get()})
    if (asked != nullptr) asked->Shutdown(0);
}

base::Result<std::unique_ptr<Serving>> Serving::Start(const RunFlags& flags, server::Pages pages, doors::Desk& desk,
                                                      kube::KubeClient& client, const base::Clock& clock) {
  auto parts = std::make_unique<Parts>();
  if (!flags.secure_serving && flags.grpc_port == 0) return std::unique_ptr<Serving>(new Serving(std::move(parts)));
  std::vector<std::string> notes;  // Run() has logged them
  const auto options = EffectiveServing(flags, &notes);
  if (!options) return tl::make_unexpected(options.error());
  auto authentication = Connect("--authentication-kubeconfig", flags.authentication_kubeconfig, clock, parts->sink);
  if (!authentication) return tl::make_unexpected(authentication.error());
  auto authorization = Connect("--authorization-kubeconfig", flags.authorization_kubeconfig, clock, parts->sink);
  if (!authorization) return tl::make_unexpected(authorization.error());
  parts->authentication = *std::move(authentication);
  parts->authorization = *std::move(authorization);
  kube::KubeClient& authenticator = parts->authentication ? *parts->authentication : client;
  parts->review =
      std::make_unique<ApiAccessReview>(authenticator, parts->authorization ? *parts->authorization : client);

  auto trust = TrustOf(flags, authenticator);
  if (!trust) return tl::make_unexpected(trust.error());
  if (flags.secure_serving) {
    auto server = server::Server::Start(*options, std::move(pages), clock, parts->review.get(), *trust);
    if (!server) return tl::make_unexpected(server.error());
    parts->server = *std::move(server);
    base::LogInfo("serving", {{"address", options->bind_address}, {"port", parts->server->port()}});
  }
  if (flags.grpc_port != 0) {
    server::ServerOptions of_grpc = *options;
    of_grpc.port = flags.grpc_port;
    auto grpc = rpc::GrpcServer::Start(of_grpc, desk, clock, parts->review.get(), *std::move(trust));
    if (!grpc) return tl::make_unexpected(grpc.error());
    parts->grpc = *std::move(grpc);
    base::LogInfo("serving gRPC", {{"address", options->bind_address}, {"port", parts->grpc->port()}});
  }
  return std::unique_ptr<Serving>(new Serving(std::move(parts)));
}

}  // namespace tutti::app
