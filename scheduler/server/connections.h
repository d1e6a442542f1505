// SPDX-License-Identifier: Apache-2.0
// Connections: gives each connection a thread, up to kMost, so that silent clients do not block the kubelet's probes.
// Each connection has one request.
//
// Used by the listening thread only, except HeadIsRead() and LetBodyBeRead().
//
// Invariants
//   (1) no client holds a thread for longer than the times below, however slow it is, and nothing is read after
//       kMostBytes and the body that was let in; a stream has that time for each of its pieces; a stopping server waits
//       for none;
//   (2) a socket is cut through a descriptor of our own: the library may close its own at any time, and the number may
//       then belong to another connection.
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
  static constexpr base::Millis kAnswerMs = 60'000;  // for the answer, which may need the API server
  static constexpr uint64_t kMostBytes = 32 * 1024;  // of the handshake and the request
  // How often on_idle() or enqueue() must be called.
  static constexpr std::chrono::milliseconds kLook{100};

  // When `stopping` is set, all connections are cut. Both outlive this.
  Connections(const base::Clock& clock, const std::atomic<bool>& stopping) : clock_(clock), stopping_(stopping) {}

  // Installs the callbacks. REQUIRES: `context` is that of all later connections.
  static void Install(SSL_CTX& context);
  // Says that the head of the request on the calling thread's connection was read.
  static void HeadIsRead();
  // Says that a body of so many bytes follows that head, and is wanted.
  static void LetBodyBeRead(size_t bytes);
  // Says that a piece of a stream was sent on it: there may be another one.
  static void PieceIsSent() { HeadIsRead(); }

  // Serves the connection on a new thread. Waits while there are kMost. Drops the connection if no thread can be
  // started.
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
    uint64_t most_bytes = kMostBytes;  // used by its own thread
  };

  static long EndAfterMostBytes(BIO* bio, int operation, const char*, size_t, int, long, int result, size_t*);
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
