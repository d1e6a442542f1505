// SPDX-License-Identifier: Apache-2.0
// Http2Connection: carries the exchanges of one TLS connection, framed by nghttp2. The loop's thread only.
//
// It accepts exchanges before it is open. All requests that are submitted in one turn of the loop leave in one write.
// No callback runs from inside Submit or Abandon. A silent server gets a PING. If it stays silent, it is taken for
// gone: all exchanges fail, and the connection accepts no more.
#pragma once

#include <nghttp2/nghttp2.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kube/epoll_loop.h"
#include "kube/tls_socket.h"
#include "kube/transport.h"

namespace tutti::kube {

class Http2Connection;

struct Http2Exchange {
  RequestId id = 0;
  Request request;
  OnDone done;
  OnData data;
  Response response;
  TimerId timer = 0;
  Http2Connection* connection = nullptr;
  int32_t stream = 0;
  size_t body_sent = 0;
  uint64_t heard = 0;     // the connection's heard_ when it was submitted
  bool sent = false;      // its head went to the socket: the request may have taken effect
  bool complete = false;  // the whole answer has arrived
  int moves = 0;          // how often it went to another connection, always unsent
};

class Http2Connection {
 public:
  struct Callbacks {
    std::function<void(Http2Exchange&)> done;    // its response is set; the connection has dropped it
    std::function<void(Http2Exchange&)> unsent;  // the same, but another connection may still send it
    std::function<void()> speaks_http1;          // the server does not speak HTTP/2; the connection never opens
  };

  Http2Connection(EpollLoop& loop, std::shared_ptr<TlsContext> tls, const Url& url, std::string user_agent,
                  Callbacks callbacks);
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  // Sends the exchange's request. False: the connection accepts no more. `exchange` must live until `done`, `unsent` or
  // Abandon.
  bool Submit(Http2Exchange& exchange);
  // Cancels the exchange: no callback follows.
  void Abandon(Http2Exchange& exchange);
  // Cancels the exchange because its time is up. If nothing was heard since it was submitted, the server may be gone.
  // The connection then accepts no more exchanges, so that they need not wait for the result of a PING.
  void TimeOut(Http2Exchange& exchange);
  // Makes the connection accept no more exchanges; the present ones go on.
  void Retire() { retired_ = true; }

  // Tells whether it accepts no more exchanges and none is left. It may then be destroyed, but not from inside a
  // callback.
  bool over() const { return retired_ && streams_.empty() && !busy_; }

 private:
  void OnReady(std::string_view protocol);
  void OnReceived(std::string_view bytes);
  void FailAll(const std::string& why);
  void Fail(Http2Exchange& exchange, const std::string& why);
  void CheckAlive();
  void FlushSoon();
  void Flush();
  Http2Exchange* Find(int32_t stream);
  Http2Exchange* Take(int32_t stream);

  static nghttp2_session_callbacks* SessionCallbacks();
  static int OnHeader(nghttp2_session*, const nghttp2_frame*, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t flags, void* self);
  static int OnChunk(nghttp2_session*, uint8_t flags, int32_t stream, const uint8_t* data, size_t size, void* self);
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int OnFrameSent(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int OnFrameNotSent(nghttp2_session*, const nghttp2_frame* frame, int error, void* self);
  static int OnStreamClosed(nghttp2_session*, int32_t stream, uint32_t error, void* self);
  static ssize_t ReadBody(nghttp2_session*, int32_t stream, uint8_t* to, size_t room, uint32_t* flags,
                          nghttp2_data_source*, void* self);

  EpollLoop& loop_;
  const std::shared_ptr<TlsContext> tls_;
  const Url url_;
  const std::string user_agent_;
  const Callbacks callbacks_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<int32_t, Http2Exchange*> streams_;
  bool open_ = false, retired_ = false;
  bool busy_ = false;             // inside nghttp2
  uint64_t heard_ = 0;            // number of pieces received
  base::Millis received_ms_ = 0;  // time of the last piece
  bool pinged_ = false;           // a PING was sent, and nothing was received since
  TimerId flush_timer_ = 0, open_timer_ = 0, alive_timer_ = 0;
  TlsSocket socket_;
};

}  // namespace tutti::kube
