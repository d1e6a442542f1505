// SPDX-License-Identifier: Apache-2.0
// Connections: a thread for each connection, up to a number, so that some who connect and say nothing do not keep the
// kubelet's probes out. One request a connection.
//
// Used by the listening thread only, but for HeadIsRead().
//
// Invariants
//   (1) no peer holds a thread for longer than the times below, however slowly it speaks or listens, nor is read from
//       after kMostBytes; once the server stops none is waited for;
//   (2) a socket is cut through a descriptor of our own: the library closes its one at any time, and by then the
//       number may be somebody else's.
#pragma once

#include <httplib.h>
#include <openssl/ssl.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <semaphore>
#include <thread>

#include "base/clock.h"

namespace tutti::server {

class Connections final : public httplib::TaskQueue {
 public:
  static constexpr int kMost = 256;
  static constexpr base::Millis kHeadMs = 10'000;    // for the handshake and the request's head, together
  static constexpr base::Millis kAnswerMs = 60'000;  // from then on: whom we ask ourselves may take his time
  static constexpr uint64_t kMostBytes = 32 * 1024;  // of the handshake and the request
  // How often on_idle() is to be called, or enqueue().
  static constexpr std::chrono::milliseconds kLook{100};

  // Once `stopping`, whoever is connected is cut. Both outlive this.
  Connections(const base::Clock& clock, const std::atomic<bool>& stopping) : clock_(clock), stopping_(stopping) {}

  // REQUIRES: `context` is that of the connections to come.
  static void Install(SSL_CTX& context);
  // What the calling thread serves has its request's head.
  static void HeadIsRead();

  // Waits while there are kMost. Where no thread can be had, the connection is dropped.
  void enqueue(std::function<void()> serve) override;
  void on_idle() override;
  void shutdown() override;

 private:
  struct Connection {
    explicit Connection(const base::Clock& its_clock)
        : clock(its_clock), cut_at_ms(its_clock.MonotonicMs() + Connections::kHeadMs) {}
    ~Connection();

    const base::Clock& clock;
    std::thread thread;
    std::atomic<base::Millis> cut_at_ms;
    std::atomic<int> socket = -1;  // ours; -1 before the handshake begins
    std::atomic<bool> done = false;
  };

  static void OnHandshake(const SSL* ssl, int where, int result);
  static void Cut(Connection& one);
  void Serve(Connection& one, const std::function<void()>& serve);

  static thread_local Connection* served_;  // by this thread

  const base::Clock& clock_;
  const std::atomic<bool>& stopping_;
  std::counting_semaphore<> places_{kMost};
  std::list<Connection> open_;
};

}  // namespace tutti::server
