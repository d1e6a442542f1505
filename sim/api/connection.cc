// SPDX-License-Identifier: Apache-2.0
#include "sim/api/connection.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tutti::sim {
namespace {

constexpr int kReadSeconds = 30;   // a request that has begun must go on
constexpr int kWriteSeconds = 30;  // a client must go on reading

bool Ready(int socket, short events, int milliseconds) {
  pollfd wait{socket, events, 0};
  int result;
  do result = ::poll(&wait, 1, milliseconds);
  while (result < 0 && errno == EINTR);
  return result > 0 && (wait.revents & (events | POLLHUP | POLLERR)) != 0;
}

void Describe(const sockaddr_storage& address, std::string& ip, int& port) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    port = ntohs(v6.sin6_port);
  }
  ip = text;
}

}  // namespace

Connection::Connection(int socket) : socket_(socket) {}

Connection::~Connection() {
  ::shutdown(socket_, SHUT_RDWR);
  ::close(socket_);
}

bool Connection::WaitForRequest(int seconds) {
  if (begin_ < end_) return true;
  if (!Ready(socket_, POLLIN, seconds * 1000)) return false;
  char byte;
  return ::recv(socket_, &byte, 1, MSG_PEEK) > 0;
}

bool Connection::is_readable() const { return begin_ < end_ || Ready(socket_, POLLIN, kReadSeconds * 1000); }

bool Connection::is_writable() const {
  if (!Ready(socket_, POLLOUT, kWriteSeconds * 1000)) return false;
  char byte;
  const ssize_t peeked = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return peeked > 0 || (peeked < 0 && (errno == EAGAIN || errno == EINTR));
}

ssize_t Connection::read(char* to, size_t size) {
  if (begin_ == end_) {
    if (!Ready(socket_, POLLIN, kReadSeconds * 1000)) return -1;
    ssize_t got;
    do got = ::recv(socket_, buffer_, sizeof buffer_, 0);
    while (got < 0 && errno == EINTR);
    if (got <= 0) return got;
    begin_ = 0;
    end_ = size_t(got);
  }
  const size_t count = std::min(size, end_ - begin_);
  std::memcpy(to, buffer_ + begin_, count);
  begin_ += count;
  return ssize_t(count);
}

ssize_t Connection::write(const char* from, size_t size) {
  if (!Ready(socket_, POLLOUT, kWriteSeconds * 1000)) return -1;
  ssize_t sent;
  do sent = ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent;
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &length) == 0) Describe(address, ip, port);
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length) == 0) Describe(address, ip, port);
}

}  // namespace tutti::sim
