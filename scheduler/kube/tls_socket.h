// SPDX-License-Identifier: Apache-2.0
// TlsSocket: one TLS connection that never blocks. The loop's thread only.
//
// Bytes that the peer has not acknowledged when the socket is destroyed are never sent again, so an abandoned write
// cannot arrive after that. Names are looked up on a thread of their own. The peer's certificate and name are verified
// unless the configuration turns that off.
#pragma once

#include <openssl/ssl.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/config.h"
#include "kube/credential.h"
#include "kube/dialer.h"
#include "kube/epoll_loop.h"
#include "kube/transport.h"

namespace tutti::kube {

// Tells whether the client certificate and the key can be read and belong together.
bool ClientPairWorks(const Credential& credential);

// The settings that connections share: trust, identity, session.
class TlsContext {
 public:
  static base::Result<std::shared_ptr<TlsContext>> Make(const Config& config, const Credential& credential);
  ~TlsContext() { SSL_CTX_free(context_); }
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  SSL_CTX* get() const { return context_; }
  const std::string& server_name() const { return server_name_; }
  bool verify() const { return verify_; }

 private:
  explicit TlsContext(SSL_CTX* context) : context_(context) {}
  SSL_CTX* const context_;
  std::string server_name_;
  bool verify_ = true;
};

class TlsSocket {
 public:
  struct Callbacks {
    std::function<void(std::string_view protocol)> ready;  // from ALPN: "h2", "http/1.1", or empty
    std::function<void(std::string_view bytes)> received;
    std::function<void(const std::string& why)> closed;  // once, as the last callback
  };

  TlsSocket(EpollLoop& loop, std::shared_ptr<TlsContext> tls, const Url& url, Callbacks callbacks);
  ~TlsSocket();
  TlsSocket(const TlsSocket&) = delete;
  TlsSocket& operator=(const TlsSocket&) = delete;

  // Sends `bytes` with the next Flush. REQUIRES: it is ready.
  void Append(std::string_view bytes) { out_.append(bytes); }
  // Sends the appended bytes, now or when the socket accepts them. No callback runs before it returns.
  void Flush();

 private:
  struct Lookup;

  size_t unsent() const { return out_.size() - out_at_; }
  bool AllArrived() const;
  void StartLookup(const Url& url);
  void OnAddresses(Lookup& lookup);
  void OnReady(uint32_t events);
  void OnConnected(int fd);
  void Handshake();
  void Read();
  void ReadOn();
  void Write();
  void Listen(bool writable);
  void Close(const std::string& why);

  EpollLoop& loop_;
  const std::shared_ptr<TlsContext> tls_;
  const Callbacks callbacks_;
  std::shared_ptr<Lookup> lookup_;
  std::unique_ptr<Dialer> dialer_;  // its addresses are the look-up's
  SSL* ssl_ = nullptr;
  int fd_ = -1;
  enum class State { kLookup, kConnect, kHandshake, kOpen, kClosed } state_ = State::kLookup;
  bool writable_watched_ = false;
  std::string out_;
  size_t out_at_ = 0;
  TimerId close_timer_ = 0, read_timer_ = 0;
};

}  // namespace tutti::kube
