// SPDX-License-Identifier: Apache-2.0
// Dialer: a TCP connection to the first of several addresses that takes it. The loop's thread only.
//
// An address that says nothing, as where a zone is down or IPv6 leads nowhere, has two seconds if another follows it,
// as in Go; the last has all the time that the caller gives.
#pragma once

#include <netdb.h>

#include <functional>
#include <string>
#include <utility>

#include "kube/epoll_loop.h"

namespace tutti::kube {

class Dialer {
 public:
  // Once: a connected socket, which is the callee's from then on, or -1 and why. May destroy the dialer.
  using Done = std::function<void(int fd, const std::string& why)>;

  // `addresses` must outlive it.
  Dialer(EpollLoop& loop, const addrinfo* addresses, Done done)
      : loop_(loop), done_(std::move(done)), next_(addresses) {}
  ~Dialer() { Drop(); }
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  // `done` may run before it returns. Once.
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
