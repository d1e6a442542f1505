// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "base/log.h"

namespace tutti::server {
namespace {

// Scrapes, probes and a person: more than this at a time is somebody's mistake, and waits.
constexpr size_t kThreads = 4;
constexpr time_t kIdleSeconds = 30;
constexpr time_t kReadSeconds = 5;
constexpr size_t kMostBytesIn = 64 * 1024;

constexpr const char* kText = "text/plain; charset=utf-8";
constexpr const char* kPrometheus = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kJson = "application/json";

void Refuse(httplib::Response& response, Access access) {
  switch (access) {
    case Access::kUnauthenticated:
      response.status = 401;
      response.set_header("WWW-Authenticate", "Bearer");
      response.set_content("Unauthorized: send a token of a user who may get this path\n", kText);
      return;
    case Access::kForbidden:
      response.status = 403;
      response.set_content("Forbidden: this user needs the verb get on this nonResourceURL\n", kText);
      return;
    default:
      response.status = 500;
      response.set_content("the API server could not say who this is; try again\n", kText);
  }
}

}  // namespace

struct Server::Impl {
  Impl(Pages shown, AccessReview* asked, const ServerOptions& options, std::shared_ptr<Certificate> served)
      : pages(std::move(shown)),
        review(asked),
        always_allowed(options.always_allow_paths),
        certificate(std::move(served)),
        http([this](SSL_CTX& context) { return certificate->Install(context); }) {}

  Access Ask(const httplib::Request& request) {
    if (always_allowed.Covers(request.path)) return Access::kAllowed;
    const std::string token = BearerToken(request.get_header_value("Authorization"));
    if (token.empty() || review == nullptr) return Access::kUnauthenticated;
    return review->Review(token, request.path);
  }

  void AddHealth(const char* name, const std::vector<HealthCheck>& checks) {
    http.Get(std::string("/") + name, [name, &checks](const httplib::Request& request, httplib::Response& response) {
      const HealthAnswer answer = AskHealth(name, checks, request.has_param("verbose"));
      response.status = answer.well ? 200 : 500;
      response.set_content(answer.text, kText);
    });
  }

  void AddPages() {
    http.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      const Access access = Ask(request);
      if (access == Access::kAllowed) return httplib::Server::HandlerResponse::Unhandled;
      Refuse(response, access);
      return httplib::Server::HandlerResponse::Handled;
    });
    AddHealth("livez", pages.live);
    AddHealth("healthz", pages.live);
    AddHealth("readyz", pages.ready);
    http.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(pages.metrics(), kPrometheus);
    });
    http.Get("/configz", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(pages.configz(), kJson);
    });
    http.Get("/debug/decisions", [this](const httplib::Request& request, httplib::Response& response) {
      response.set_content(pages.decisions(request.get_param_value("namespace"), request.get_param_value("name")),
                           kJson);
    });
  }

  void Tune() {
    http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    // The library's own choice is SO_REUSEPORT, with which a port that is taken is shared instead of refused.
    http.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http.set_tcp_nodelay(true);
    http.set_keep_alive_max_count(100'000);
    http.set_keep_alive_timeout(kIdleSeconds);
    http.set_read_timeout(kReadSeconds);
    http.set_write_timeout(kReadSeconds);
    http.set_payload_max_length(kMostBytesIn);
  }

  // Constant after construction.
  const Pages pages;
  AccessReview* const review;
  const AlwaysAllowed always_allowed;
  const std::shared_ptr<Certificate> certificate;

  httplib::SSLServer http;
  int port = 0;
  std::thread thread;
};

base::Result<std::unique_ptr<Server>> Server::Start(const ServerOptions& options, Pages pages, AccessReview* review) {
  auto certificate = options.certificate.cert.empty() ? Certificate::SelfSigned(options.bind_address)
                                                      : Certificate::Load(options.certificate);
  if (!certificate) return tl::make_unexpected(certificate.error());
  auto impl = std::make_unique<Impl>(std::move(pages), review, options, *std::move(certificate));
  impl->Tune();
  impl->AddPages();
  errno = 0;
  if (options.port == 0) {
    impl->port = impl->http.bind_to_any_port(options.bind_address);
  } else {
    impl->port = impl->http.bind_to_port(options.bind_address, options.port) ? options.port : -1;
  }
  if (impl->port < 0) {
    return base::Fail(
        base::ErrorCode::kUnavailable,
        fmt::format("cannot listen on {}:{}: {}; choose another with --bind-address and --secure-port, or "
                    "none with --secure-port=0",
                    options.bind_address, options.port, std::strerror(errno)));
  }
  Impl* serving = impl.get();
  impl->thread = std::thread([serving] { serving->http.listen_after_bind(); });
  // stop() before it runs would be lost, and the destructor would wait for ever.
  while (!serving->http.is_running()) std::this_thread::yield();
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  impl_->http.stop();
  impl_->thread.join();
}

int Server::port() const { return impl_->port; }

}  // namespace tutti::server
