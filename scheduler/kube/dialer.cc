// SPDX-License-Identifier: Apache-2.0
#include "kube/dialer.h"

#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "kube/transport.h"

namespace tutti::kube {
namespace {

constexpr base::Millis kAddressPatienceMs = 2'000;

void SetSocketOptions(int fd) {
  const int on = 1, idle_s = 15, interval_s = 5, patience_ms = static_cast<int>(kSocketPatienceMs);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms);
}

}  // namespace

void Dialer::Next() {
  while (next_ != nullptr) {
    const addrinfo& address = *std::exchange(next_, next_->ai_next);
    fd_ = socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ >= 0) {
      SetSocketOptions(fd_);
      if (connect(fd_, address.ai_addr, address.ai_addrlen) == 0 || errno == EINPROGRESS) return Wait();
    }
    error_ = errno;
    Drop();
  }
  Finish(-1, std::string("cannot connect: ") + std::strerror(error_));
}

void Dialer::Wait() {
  loop_.Watch(fd_, EPOLLOUT, [this](uint32_t) { OnReady(); });
  if (next_ == nullptr) return;
  timer_ = loop_.After(kAddressPatienceMs, [this] {
    timer_ = 0;
    Drop();
    Next();
  });
}

void Dialer::OnReady() {
  socklen_t size = sizeof error_;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error_, &size);
  if (error_ == 0) {
    loop_.Unwatch(fd_);
    loop_.CancelTimer(std::exchange(timer_, 0));
    return Finish(std::exchange(fd_, -1), "");
  }
  Drop();
  Next();
}

void Dialer::Drop() {
  loop_.CancelTimer(std::exchange(timer_, 0));
  if (fd_ < 0) return;
  loop_.Unwatch(fd_);
  close(std::exchange(fd_, -1));
}

void Dialer::Finish(int fd, const std::string& why) {
  const Done done = std::move(done_);
  done(fd, why);
}

}  // namespace tutti::kube
