// SPDX-License-Identifier: Apache-2.0
#include "server/tls_server.h"

#include <netdb.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>

#include "server/header_escaper.h"

namespace tutti::server {
namespace {

// The library reads a request's head byte by byte.
class TlsStream final : public httplib::Stream {
 public:
  TlsStream(SSL& ssl, socket_t socket, int timeout_ms) : ssl_(ssl), socket_(socket), timeout_ms_(timeout_ms) {}

  bool is_readable() const override { return !due_.empty() || SSL_pending(&ssl_) > 0 || IsReady(POLLIN); }
  bool is_writable() const override { return IsReady(POLLOUT); }

  ssize_t read(char* to, size_t size) override {
    if (size == 0) return 0;
    if (!due_.empty()) {
      const size_t taken = due_.copy(to, size);
      due_.remove_prefix(taken);
      return static_cast<ssize_t>(taken);
    }
    const size_t most = escaper_.is_done() ? std::min<size_t>(size, std::numeric_limits<int>::max()) : 1;
    const int got = SSL_read(&ssl_, to, static_cast<int>(most));
    if (got <= 0) return SSL_get_error(&ssl_, got) == SSL_ERROR_ZERO_RETURN ? 0 : -1;
    if (!escaper_.is_done()) due_ = escaper_.After(*to);
    return got;
  }

  ssize_t write(const char* from, size_t size) override {
    if (size == 0) return 0;
    const int sent = SSL_write(&ssl_, from, static_cast<int>(std::min<size_t>(size, std::numeric_limits<int>::max())));
    return sent > 0 ? sent : -1;
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override { Describe(&getpeername, ip, port); }
  void get_local_ip_and_port(std::string& ip, int& port) const override { Describe(&getsockname, ip, port); }
  socket_t socket() const override { return socket_; }

 private:
  bool IsReady(short what) const {
    pollfd of{socket_, what, 0};
    return poll(&of, 1, timeout_ms_) == 1 && (of.revents & what) != 0;
  }

  template <class NameOf>
  void Describe(NameOf name_of, std::string& ip, int& port) const {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> service{};
    auto* at = reinterpret_cast<sockaddr*>(&address);
    if (name_of(socket_, at, &length) != 0 || getnameinfo(at, length, host.data(), host.size(), service.data(),
                                                          service.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
      return;
    ip = host.data();
    port = std::atoi(service.data());
  }

  SSL& ssl_;
  const socket_t socket_;
  const int timeout_ms_;
  HeaderEscaper escaper_;
  std::string_view due_;  // to be read before what follows on the connection
};

}  // namespace

bool TlsServer::process_and_close_socket(socket_t socket) {
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(ssl_context()), SSL_free);
  bool served = false;
  if (ssl && SSL_set_fd(ssl.get(), socket) == 1 && SSL_accept(ssl.get()) == 1) {
    TlsStream stream(*ssl, socket, static_cast<int>(write_timeout_sec_ * 1'000));
    bool closed = false;
    served = process_request(stream, true, closed, [&ssl](httplib::Request& request) { request.ssl = ssl.get(); });
    if (served) SSL_shutdown(ssl.get());
  }
  ::shutdown(socket, SHUT_RDWR);
  close(socket);
  return served;
}

}  // namespace tutti::server
