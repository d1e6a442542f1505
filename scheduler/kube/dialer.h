// SPDX-License-Identifier: Apache-2.0
// Dialer: makes a TCP connection to the first of several addresses that accepts one. The loop's thread only.
//
// An address that does not answer gets two seconds if another follows, as in Go: its zone may be down, or IPv6 may not
// work. The last address gets all the time that the caller gives.
#pragma once

#include <netdb.h>

#include <functional>
#include <string>
#include <utility>

#include "kube/epoll_loop.h"

namespace tutti::kube {

class Dialer {
 public:
  // Called once, with a connected socket, which the callee then owns, or with -1 and the reason. May destroy the
  // dialer.
  using Done = std::function<void(int fd, const std::string& why)>;

  // `addresses` must outlive it.
  Dialer(EpollLoop& loop, const addrinfo* addresses, Done done)
      : loop_(loop), done_(std::move(done)), next_(addresses) {}
  ~Dialer() { Drop(); }
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  // Starts dialing. `done` may run before this returns. REQUIRES: it is called once.
  void Start() { Next(); }

 private:
  void Next();
  void Wait();
  void OnReady();
  void Drop();
  void Finish(int fd, const std::string& why);

  EpollLoop& loop_;
  Done done_;
  TimerId timer_ = 0;
  const addrinfo* next_;
  int fd_ = -1;
  int error_ = 0;  // of the last address that was tried
};

}  // namespace tutti::kube
