// SPDX-License-Identifier: Apache-2.0
// An HTTP/2 server for tests, on a thread of its own. It fails in the way that the path asks for:
//   /ok       200, body "connection N", N counted from 1 as they are accepted
//   /echo     200, body what was sent
//   /as       200, body the Impersonate- headers that came, each "name: value;"
//   /big      200, a body of kBigBody bytes
//   /refuse   the stream is refused the first time; after that as /ok
//   /leave    as /ok, and asks the client to leave (GOAWAY)
//   /cut      the connection is closed without an answer
//   /late     no answer
//   /begin    200 and the first piece of a body, and no more of it
//   /nonsense a frame that is not valid (a PING of the wrong size)
//   /hang     nothing is read or written from then on; the connection stays
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/certificate.h"

namespace tutti::kube {

class Http2Server {
 public:
  static constexpr size_t kBigBody = 3'000'000;

  // Starts it. `protocol` is what it chooses by ALPN: "h2" or "http/1.1". Without a certificate it makes its own.
  explicit Http2Server(std::string protocol = "h2", std::shared_ptr<server::Certificate> certificate = nullptr);
  ~Http2Server();

  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  int connections() const { return accepted_; }
  int pings() const { return pings_; }

 private:
  void Accept();
  void Serve(int socket, int number);

  const std::string protocol_;
  std::shared_ptr<server::Certificate> certificate_;
  SSL_CTX* context_ = nullptr;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> accepted_ = 0, pings_ = 0;
  std::atomic<bool> refused_ = false;
  std::vector<std::thread> serving_;  // used by the accepting thread alone, until that has ended
  std::vector<int> sockets_;
  std::thread accepting_;
};

}  // namespace tutti::kube
