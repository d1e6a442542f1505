// SPDX-License-Identifier: Apache-2.0
#include "kube/tls_socket.h"

#include <openssl/err.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <thread>

#include "listener.h"
#include "server/certificate.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

// Takes one connection and says hello; then it reads nothing until it is asked to read all.
class TlsPeer {
 public:
  TlsPeer() : certificate_(*server::Certificate::SelfSigned("localhost")), context_(SSL_CTX_new(TLS_server_method())) {
    certificate_->Install(*context_);
    const int small = 1;  // as small as the kernel lets it be
    setsockopt(listener_.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    thread_ = std::thread([this] {
      socket_ = accept(listener_.fd(), nullptr, nullptr);
      ssl_ = SSL_new(context_);
      SSL_set_fd(ssl_, socket_);
      if (SSL_accept(ssl_) == 1) SSL_write(ssl_, "hello", 5);
    });
  }
  ~TlsPeer() {
    if (thread_.joinable()) thread_.join();
    SSL_free(ssl_);
    close(socket_);
    SSL_CTX_free(context_);
  }

  int port() const { return listener_.port(); }

  // How the client left: "farewell" (in TLS), "reset", or "cut".
  std::string Leave() {
    thread_.join();
    std::array<char, 16384> buffer;
    int got = 0;
    do {
      ERR_clear_error();
      errno = 0;
      got = SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()));
    } while (got > 0);
    if (errno == ECONNRESET) return "reset";
    return SSL_get_error(ssl_, got) == SSL_ERROR_ZERO_RETURN ? "farewell" : "cut";
  }

 private:
  Listener listener_{1};
  std::shared_ptr<server::Certificate> certificate_;
  SSL_CTX* const context_;
  SSL* ssl_ = nullptr;
  int socket_ = -1;
  std::thread thread_;
};

// Connects, sends `bytes` when it hears hello, and is gone in the next turn of the loop. What it heard.
std::string SendAndLeave(const TlsPeer& peer, const std::string& bytes) {
  const base::SystemClock clock;
  EpollLoop loop(clock);
  Config config;
  config.server = "https://127.0.0.1:" + std::to_string(peer.port());
  config.insecure_skip_tls_verify = true;
  std::string heard;
  std::unique_ptr<TlsSocket> socket;
  const auto leave = [&] {
    socket.reset();
    loop.Stop();
  };
  socket = std::make_unique<TlsSocket>(loop, *TlsContext::Make(config, {}), SplitUrl(config.server),
                                       TlsSocket::Callbacks{[](std::string_view) {},
                                                            [&](std::string_view piece) {
                                                              heard += piece;
                                                              socket->Append(bytes);
                                                              socket->Flush();
                                                              loop.After(0, leave);
                                                            },
                                                            [&](const std::string& why) {
                                                              heard += why;
                                                              loop.After(0, leave);
                                                            }});
  loop.Run();
  return heard;
}

TEST_CASE("a socket that has sent all says farewell") {
  TlsPeer peer;
  CHECK(SendAndLeave(peer, "") == "hello");
  CHECK(peer.Leave() == "farewell");
}

TEST_CASE("what a socket has not sent is never sent once it is gone") {
  const size_t size = GENERATE(size_t{8} << 10, size_t{32} << 20);  // the kernel's, and its own
  TlsPeer peer;
  CHECK(SendAndLeave(peer, std::string(size, 'x')) == "hello");
  CHECK(peer.Leave() == "reset");
}

TEST_CASE("a peer that sends without a pause keeps no timer from its time") {
  constexpr size_t kMuch = 8 << 20;
  const Listener listener(1);
  const auto certificate = *server::Certificate::SelfSigned("localhost");
  std::thread sending([&] {
    SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
    certificate->Install(*context);
    const int client = accept(listener.fd(), nullptr, nullptr);
    SSL* const ssl = SSL_new(context);
    SSL_set_fd(ssl, client);
    const std::string much(kMuch, 'x');
    if (SSL_accept(ssl) == 1) SSL_write(ssl, much.data(), static_cast<int>(much.size()));
    SSL_shutdown(ssl);
    SSL_free(ssl);
    close(client);
    SSL_CTX_free(context);
  });
  const base::SystemClock clock;
  EpollLoop loop(clock);
  Config config;
  config.server = "https://127.0.0.1:" + std::to_string(listener.port());
  config.insecure_skip_tls_verify = true;
  size_t heard = 0, heard_by_then = 0;
  TlsSocket socket(loop, *TlsContext::Make(config, {}), SplitUrl(config.server),
                   {[](std::string_view) {},
                    [&](std::string_view piece) {
                      if (heard == 0) loop.After(0, [&] { heard_by_then = heard; });
                      heard += piece.size();
                      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the next is there by then
                    },
                    [&](const std::string&) { loop.Stop(); }});
  loop.Run();
  sending.join();
  CHECK(heard == kMuch);
  CHECK(heard_by_then < kMuch / 2);
}

}  // namespace
}  // namespace tutti::kube
