// SPDX-License-Identifier: Apache-2.0
// A server on loopback for tests, with short pages, and clients for it.
#pragma once

#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "server/server.h"
#include "tests/support/catch.h"
#include "tests/support/skipping_clock.h"

namespace tutti::server {

using tests::SkippingClock;

// Knows two tokens: admin, which may do everything, and prometheus.
class Reviewer final : public AccessReview {
 public:
  base::Result<std::optional<User>> Authenticate(std::string_view token) override {
    if (token == "down") return base::Fail(base::ErrorCode::kUnavailable, "down");
    if (token != "prometheus" && token != "admin") return std::nullopt;
    return User{std::string(token), "", {}, {}};
  }
  base::Result<bool> Authorize(const User& user, std::string_view, std::string_view path) override {
    return user.name == "admin" || (user.name == "prometheus" && path == "/metrics");
  }
  base::Result<bool> AuthorizeResource(const User& user, const ResourceAccess& access) override {
    return user.name == "admin" ||
           (user.name == "prometheus" && access.resource == "pods" && access.ns == "monitoring");
  }
};

inline Pages SomePages(std::string* ready_problem) {
  Pages pages;
  pages.live = {{"ping", [] { return ""; }}};
  pages.health = {{"ping", [] { return ""; }}, {"leaderElection", [] { return ""; }}};
  pages.ready = {{"ping", [] { return ""; }}, {"sched-handler-sync", [ready_problem] { return *ready_problem; }}};
  pages.shown = {{"/metrics", kPrometheus, [](const Query&) { return PageAnswer{200, "tutti_up 1\n"}; }},
                 {"/configz", kJson, [](const Query&) { return PageAnswer{200, "{}"}; }},
                 {"/debug/decisions",
                  kJson,
                  [](const Query& query) {
                    const auto of = [&query](const char* name) { return query.contains(name) ? query.at(name) : ""; };
                    if (of("name") == "missing") return PageAnswer{404, "no gang missing\n"};
                    return PageAnswer{200, "[\"" + of("namespace") + "/" + of("name") + "\"]"};
                  },
                  {"namespace", "name"}}};
  return pages;
}

// A folder that is removed at the end of the test.
class TempFolder {
 public:
  TempFolder() : path_(std::filesystem::temp_directory_path() / ("tutti-server-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string File(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline httplib::Result Get(int port, const std::string& path, const std::string& token = "") {
  httplib::SSLClient client("127.0.0.1", port);
  client.enable_server_certificate_verification(false);
  return token.empty() ? client.Get(path) : client.Get(path, httplib::Headers{{"Authorization", "Bearer " + token}});
}

inline ServerOptions OnLoopback() {
  ServerOptions options;
  options.bind_address = "127.0.0.1";
  options.port = 0;
  return options;
}

// A TCP connection to `port` that says only what the test says.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  ~RawClient() { close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  int socket_fd() const { return socket_; }
  void Say(std::string_view text) const { send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }

  // Tells whether the server hangs up on a client that says `next` every second. So no single read times out.
  template <typename Next>
  bool IsHungUpOn(Next next) const {
    constexpr int kPatienceSeconds = 8;
    for (int i = 0; i < kPatienceSeconds; ++i) {
      pollfd events{socket_, POLLRDHUP, 0};
      if (poll(&events, 1, 1'000) > 0) return true;
      next();
    }
    return false;
  }

 private:
  const int socket_;
};

// A TLS connection on top of a RawClient.
class TlsClient {
 public:
  explicit TlsClient(int port)
      : raw_(port), context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free), ssl_(SSL_new(context_.get()), SSL_free) {
    SSL_set_fd(ssl_.get(), raw_.socket_fd());
    REQUIRE(SSL_connect(ssl_.get()) == 1);
  }

  const RawClient& raw() const { return raw_; }
  // Of the server's certificate: "/CN=localhost".
  std::string PeerSubject() const {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(ssl_.get()), X509_free);
    REQUIRE(certificate);
    char* const line = X509_NAME_oneline(X509_get_subject_name(certificate.get()), nullptr, 0);
    std::string subject(line);
    OPENSSL_free(line);
    return subject;
  }
  // Sends the text. False: the server takes no more.
  bool Say(std::string_view text) const {
    return SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) > 0;
  }
  // Returns all that comes until the server hangs up.
  std::string Hear() const {
    std::string heard;
    char piece[4096];
    for (int got; (got = SSL_read(ssl_.get(), piece, sizeof piece)) > 0;) heard.append(piece, static_cast<size_t>(got));
    return heard;
  }

 private:
  const RawClient raw_;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
};

}  // namespace tutti::server
