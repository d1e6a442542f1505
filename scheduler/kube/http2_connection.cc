// SPDX-License-Identifier: Apache-2.0
#include "kube/http2_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "base/check.h"

namespace tutti::kube {
namespace {

constexpr base::Millis kOpenTimeoutMs = 10'000;
// As in client-go: after the first time of silence a PING is sent; after the second the connection is closed.
constexpr base::Millis kPingAfterMs = 30'000, kPingPatienceMs = 15'000;
constexpr int32_t kStreamWindow = 4 << 20, kConnectionWindow = 32 << 20;

nghttp2_nv Header(std::string_view name, std::string_view value) {
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME};
}

std::string_view View(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

}  // namespace

Http2Connection::Http2Connection(EpollLoop& loop, std::shared_ptr<TlsContext> tls, const Url& url,
                                 std::string user_agent, Callbacks callbacks)
    : loop_(loop),
      tls_(std::move(tls)),
      url_(url),
      user_agent_(std::move(user_agent)),
      callbacks_(std::move(callbacks)),
      socket_(
          loop, tls_, url,
          {[this](std::string_view protocol) { OnReady(protocol); },
           [this](std::string_view bytes) { OnReceived(bytes); }, [this](const std::string& why) { FailAll(why); }}) {
  const int made = nghttp2_session_client_new(&session_, SessionCallbacks(), this);
  TUTTI_CHECK(made == 0, nghttp2_strerror(made));
  const std::array<nghttp2_settings_entry, 2> settings{{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  open_timer_ = loop_.After(kOpenTimeoutMs, [this] {
    open_timer_ = 0;
    FailAll(fmt::format("no connection within {} s", kOpenTimeoutMs / 1000));
  });
}

Http2Connection::~Http2Connection() {
  loop_.CancelTimer(open_timer_);
  loop_.CancelTimer(flush_timer_);
  loop_.CancelTimer(alive_timer_);
  nghttp2_session_del(session_);
}

nghttp2_session_callbacks* Http2Connection::SessionCallbacks() {
  static nghttp2_session_callbacks* const callbacks = [] {
    nghttp2_session_callbacks* made = nullptr;
    TUTTI_CHECK(nghttp2_session_callbacks_new(&made) == 0, "out of memory");
    nghttp2_session_callbacks_set_on_header_callback(made, &OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, &OnChunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, &OnFrame);
    nghttp2_session_callbacks_set_on_frame_send_callback(made, &OnFrameSent);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(made, &OnFrameNotSent);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, &OnStreamClosed);
    return made;
  }();
  return callbacks;
}

// --- Exchanges ---

bool Http2Connection::Submit(Http2Exchange& exchange) {
  if (retired_) return false;
  const Request& request = exchange.request;
  const std::string path = url_.prefix + request.target;
  std::vector<nghttp2_nv> headers;
  headers.reserve(9 + request.credential->impersonation.size());
  headers.push_back(Header(":method", Name(request.method)));
  headers.push_back(Header(":scheme", "https"));
  headers.push_back(Header(":authority", url_.authority));
  headers.push_back(Header(":path", path));
  headers.push_back(Header("accept", request.accept));
  headers.push_back(Header("user-agent", user_agent_));
  if (!request.credential->authorization.empty())
    headers.push_back(Header("authorization", request.credential->authorization));
  for (const auto& [name, value] : request.credential->impersonation) headers.push_back(Header(name, value));
  if (!request.body.empty()) headers.push_back(Header("content-type", request.content_type));
  if (!request.if_none_match.empty()) headers.push_back(Header("if-none-match", request.if_none_match));
  nghttp2_data_provider body{};
  body.read_callback = &ReadBody;
  const int32_t stream = nghttp2_submit_request(session_, nullptr, headers.data(), headers.size(),
                                                request.body.empty() ? nullptr : &body, nullptr);
  if (stream < 0) {  // the stream numbers are used up
    Retire();
    return false;
  }
  exchange.connection = this;
  exchange.stream = stream;
  exchange.body_sent = 0;
  exchange.heard = heard_;
  streams_.emplace(stream, &exchange);
  FlushSoon();
  return true;
}

void Http2Connection::Abandon(Http2Exchange& exchange) {
  streams_.erase(exchange.stream);
  exchange.connection = nullptr;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, exchange.stream, NGHTTP2_CANCEL);
  FlushSoon();
}

void Http2Connection::TimeOut(Http2Exchange& exchange) {
  if (open_ && exchange.heard == heard_) Retire();
  Abandon(exchange);
}

Http2Exchange* Http2Connection::Find(int32_t stream) {
  const auto at = streams_.find(stream);
  return at == streams_.end() ? nullptr : at->second;
}

Http2Exchange* Http2Connection::Take(int32_t stream) {
  const auto at = streams_.find(stream);
  if (at == streams_.end()) return nullptr;
  Http2Exchange* exchange = at->second;
  streams_.erase(at);
  exchange->connection = nullptr;
  return exchange;
}

void Http2Connection::Fail(Http2Exchange& exchange, const std::string& why) {
  exchange.response.Break(exchange.sent ? Response::Failure::kLost : Response::Failure::kNotSent, why);
  callbacks_.done(exchange);
}

void Http2Connection::FailAll(const std::string& why) {
  Retire();
  open_ = false;
  loop_.CancelTimer(std::exchange(open_timer_, 0));
  loop_.CancelTimer(std::exchange(alive_timer_, 0));
  while (!streams_.empty()) Fail(*Take(streams_.begin()->first), why);
}

// --- Bytes ---

void Http2Connection::OnReady(std::string_view protocol) {
  loop_.CancelTimer(std::exchange(open_timer_, 0));
  if (protocol != "h2") {
    Retire();
    callbacks_.speaks_http1();
    while (!streams_.empty()) callbacks_.unsent(*Take(streams_.begin()->first));
    return;
  }
  open_ = true;
  received_ms_ = loop_.Now();
  CheckAlive();
  Flush();
}

void Http2Connection::OnReceived(std::string_view bytes) {
  if (!open_) return;
  ++heard_;
  received_ms_ = loop_.Now();
  pinged_ = false;
  busy_ = true;
  const ssize_t taken =
      nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  busy_ = false;
  if (taken < 0) return FailAll(fmt::format("HTTP/2: {}", nghttp2_strerror(static_cast<int>(taken))));
  Flush();
}

void Http2Connection::CheckAlive() {
  const base::Millis silent_ms = loop_.Now() - received_ms_;
  base::Millis again_ms = kPingPatienceMs;
  if (silent_ms < kPingAfterMs) {
    again_ms = kPingAfterMs - silent_ms;
  } else if (!std::exchange(pinged_, true)) {
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    FlushSoon();
  } else {
    return FailAll(fmt::format("no answer to a PING within {} s", kPingPatienceMs / 1000));
  }
  alive_timer_ = loop_.After(again_ms, [this] {
    alive_timer_ = 0;
    CheckAlive();
  });
}

void Http2Connection::FlushSoon() {
  if (!open_ || busy_ || flush_timer_ != 0) return;
  flush_timer_ = loop_.After(0, [this] {
    flush_timer_ = 0;
    Flush();
  });
}

void Http2Connection::Flush() {
  if (!open_) return;
  busy_ = true;
  const uint8_t* data = nullptr;
  ssize_t size = 0;
  while ((size = nghttp2_session_mem_send(session_, &data)) > 0) socket_.Append(View(data, static_cast<size_t>(size)));
  busy_ = false;
  if (size < 0) return FailAll(fmt::format("HTTP/2: {}", nghttp2_strerror(static_cast<int>(size))));
  socket_.Flush();
  // After a protocol error of the peer nghttp2 sends a last frame and then ignores all input.
  if (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0)
    FailAll("HTTP/2: the session is over");
}

// --- Callbacks of nghttp2 ---

int Http2Connection::OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                              const uint8_t* value, size_t value_size, uint8_t, void* self) {
  Http2Exchange* exchange = static_cast<Http2Connection*>(self)->Find(frame->hd.stream_id);
  if (exchange == nullptr) return 0;
  const std::string_view key = View(name, name_size), text = View(value, value_size);
  if (key == ":status")
    std::from_chars(text.data(), text.data() + text.size(), exchange->response.status);
  else
    exchange->response.ReadHeader(key, text);
  return 0;
}

int Http2Connection::OnChunk(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t size, void* self) {
  Http2Exchange* exchange = static_cast<Http2Connection*>(self)->Find(stream);
  if (exchange == nullptr) return 0;
  if (exchange->data && exchange->response.ok())
    exchange->data(exchange->response, View(data, size));
  else
    exchange->response.AppendBody(View(data, size));
  return 0;
}

int Http2Connection::OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  auto& connection = *static_cast<Http2Connection*>(self);
  if (frame->hd.type == NGHTTP2_GOAWAY) connection.Retire();
  if ((frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) &&
      (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
    if (Http2Exchange* exchange = connection.Find(frame->hd.stream_id)) exchange->complete = true;
  return 0;
}

int Http2Connection::OnFrameSent(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  if (frame->hd.type == NGHTTP2_HEADERS)
    if (Http2Exchange* exchange = static_cast<Http2Connection*>(self)->Find(frame->hd.stream_id)) exchange->sent = true;
  return 0;
}

int Http2Connection::OnFrameNotSent(nghttp2_session*, const nghttp2_frame* frame, int, void* self) {
  auto& connection = *static_cast<Http2Connection*>(self);
  if (frame->hd.type == NGHTTP2_HEADERS)
    if (Http2Exchange* exchange = connection.Take(frame->hd.stream_id)) connection.callbacks_.unsent(*exchange);
  return 0;
}

int Http2Connection::OnStreamClosed(nghttp2_session*, int32_t stream, uint32_t error, void* self) {
  auto& connection = *static_cast<Http2Connection*>(self);
  Http2Exchange* exchange = connection.Take(stream);
  if (exchange == nullptr) return 0;
  if (exchange->complete && exchange->response.status != 0) {
    connection.callbacks_.done(*exchange);
  } else if (error == NGHTTP2_REFUSED_STREAM) {  // the server says that it did nothing (RFC 9113, 8.7)
    exchange->sent = false;
    connection.callbacks_.unsent(*exchange);
  } else {
    connection.Fail(*exchange, fmt::format("the HTTP/2 stream ended early: {}", nghttp2_http2_strerror(error)));
  }
  return 0;
}

ssize_t Http2Connection::ReadBody(nghttp2_session*, int32_t stream, uint8_t* to, size_t room, uint32_t* flags,
                                  nghttp2_data_source*, void* self) {
  const auto& connection = *static_cast<Http2Connection*>(self);
  Http2Exchange* exchange = static_cast<Http2Connection*>(self)->Find(stream);
  if (exchange == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const std::string& body = exchange->request.body;
  const base::Millis not_after_ms = exchange->request.not_after_ms;
  if (exchange->body_sent == 0 && not_after_ms > 0 && connection.loop_.Now() > not_after_ms) {
    exchange->sent = false;  // without its body the server does nothing
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  const size_t size = std::min(room, body.size() - exchange->body_sent);
  std::copy_n(body.data() + exchange->body_sent, size, to);
  exchange->body_sent += size;
  if (exchange->body_sent == body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(size);
}

}  // namespace tutti::kube
