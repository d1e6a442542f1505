// SPDX-License-Identifier: Apache-2.0
// Listens on a port of this machine, and accepts no connection by itself.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/catch.h"

namespace tutti::kube {

class Listener {
 public:
  explicit Listener(int backlog) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    at_.sin_family = AF_INET;
    at_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(fd_, address(), sizeof at_) == 0);
    REQUIRE(listen(fd_, backlog) == 0);
    socklen_t size = sizeof at_;
    getsockname(fd_, address(), &size);
  }
  ~Listener() { close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int fd() const { return fd_; }
  sockaddr* address() { return reinterpret_cast<sockaddr*>(&at_); }
  int port() const { return ntohs(at_.sin_port); }
  void WaitForOne() const {
    pollfd one{fd_, POLLIN, 0};
    REQUIRE(poll(&one, 1, -1) == 1);
  }

 private:
  const int fd_;
  sockaddr_in at_{};
};

}  // namespace tutti::kube
