// SPDX-License-Identifier: Apache-2.0
#include "http2_server.h"

#include <arpa/inet.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <map>
#include <utility>

#include "base/check.h"

namespace tutti::kube {
namespace {

nghttp2_nv Header(const char* name, const char* value) {
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name)), reinterpret_cast<uint8_t*>(const_cast<char*>(value)),
          std::strlen(name), std::strlen(value), NGHTTP2_NV_FLAG_NONE};
}

struct Stream {
  std::string path, received, as, answer;
  size_t answered = 0;
};

// One connection's session.
struct Session {
  int number = 0;
  std::atomic<bool>* refused = nullptr;
  std::atomic<int>* pings = nullptr;
  bool cut = false, hang = false, nonsense = false;
  std::map<int32_t, Stream> streams;

  void Answer(nghttp2_session* session, int32_t id) {
    Stream& stream = streams[id];
    if (stream.path == "/late") return;
    cut = stream.path == "/cut";
    hang = stream.path == "/hang";
    nonsense = stream.path == "/nonsense";
    if (cut || hang || nonsense) return;
    if (stream.path == "/refuse" && !refused->exchange(true)) {
      nghttp2_submit_rst_stream(session, 0, id, NGHTTP2_REFUSED_STREAM);
      return;
    }
    stream.answer = stream.path == "/big"    ? std::string(Http2Server::kBigBody, 'b')
                    : stream.path == "/echo" ? stream.received
                    : stream.path == "/as"   ? stream.as
                                             : "connection " + std::to_string(number);
    const std::array<nghttp2_nv, 2> head{Header(":status", "200"), Header("Content-Type", "text/plain")};
    nghttp2_data_provider body{};
    body.read_callback = [](nghttp2_session*, int32_t at, uint8_t* to, size_t room, uint32_t* flags,
                            nghttp2_data_source*, void* self) -> ssize_t {
      Stream& from = static_cast<Session*>(self)->streams[at];
      const size_t size = std::min(room, from.answer.size() - from.answered);
      std::memcpy(to, from.answer.data() + from.answered, size);
      from.answered += size;
      if (from.path == "/begin") return size > 0 ? static_cast<ssize_t>(size) : ssize_t{NGHTTP2_ERR_DEFERRED};
      if (from.answered == from.answer.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
      return static_cast<ssize_t>(size);
    };
    nghttp2_submit_response(session, id, head.data(), head.size(), &body);
    if (stream.path == "/leave") nghttp2_submit_goaway(session, 0, id, NGHTTP2_NO_ERROR, nullptr, 0);
  }
};

nghttp2_session* MakeSession(Session& state) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                    const uint8_t* value, size_t value_size, uint8_t, void* self) {
        const std::string key(name, name + name_size);
        Stream& stream = static_cast<Session*>(self)->streams[frame->hd.stream_id];
        if (key == ":path") stream.path.assign(value, value + value_size);
        if (key.starts_with("impersonate-")) stream.as += key + ": " + std::string(value, value + value_size) + ";";
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks, [](nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size, void* self) {
        static_cast<Session*>(self)->streams[id].received.append(data, data + size);
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      callbacks, [](nghttp2_session* session, const nghttp2_frame* frame, void* self) {
        if (frame->hd.type == NGHTTP2_PING) ++*static_cast<Session*>(self)->pings;
        const bool body = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
        if (body && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
          static_cast<Session*>(self)->Answer(session, frame->hd.stream_id);
        return 0;
      });
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new(&session, callbacks, &state);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(session, 0, nullptr, 0);
  return session;
}

}  // namespace

Http2Server::Http2Server(std::string protocol, std::shared_ptr<server::Certificate> certificate)
    : protocol_(std::move(protocol)), certificate_(std::move(certificate)) {
  if (certificate_ == nullptr) {
    auto made = server::Certificate::SelfSigned("localhost");
    TUTTI_CHECK(made, "no certificate");
    certificate_ = *std::move(made);
  }
  context_ = SSL_CTX_new(TLS_server_method());
  certificate_->Install(*context_);
  SSL_CTX_set_alpn_select_cb(
      context_,
      [](SSL*, const unsigned char** out, unsigned char* size, const unsigned char*, unsigned, void* self) {
        const std::string& chosen = static_cast<Http2Server*>(self)->protocol_;
        *out = reinterpret_cast<const unsigned char*>(chosen.data());
        *size = static_cast<unsigned char>(chosen.size());
        return SSL_TLSEXT_ERR_OK;
      },
      this);
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  TUTTI_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(listener_, 16) == 0,
              "no port");
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] { Accept(); });
}

Http2Server::~Http2Server() {
  shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
  for (std::thread& thread : serving_) thread.join();
  for (const int socket : sockets_) close(socket);
  close(listener_);
  SSL_CTX_free(context_);
}

void Http2Server::Accept() {
  while (true) {
    const int socket = accept(listener_, nullptr, nullptr);
    if (socket < 0) return;
    sockets_.push_back(socket);
    serving_.emplace_back([this, socket, number = ++accepted_] { Serve(socket, number); });
  }
}

void Http2Server::Serve(int socket, int number) {
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl{SSL_new(context_), &SSL_free};
  SSL_set_fd(ssl.get(), socket);
  if (SSL_accept(ssl.get()) != 1) return;
  Session state;
  state.number = number;
  state.refused = &refused_;
  state.pings = &pings_;
  nghttp2_session* session = MakeSession(state);
  std::array<uint8_t, 16384> buffer{};
  bool well = true;
  while (well && !state.cut && !state.hang) {
    const uint8_t* data = nullptr;
    ssize_t size = 0;
    while (well && (size = nghttp2_session_mem_send(session, &data)) > 0)
      well = SSL_write(ssl.get(), data, static_cast<int>(size)) > 0;
    if (well && std::exchange(state.nonsense, false)) well = SSL_write(ssl.get(), "\0\0\1\6\0\0\0\0\0x", 10) > 0;
    const int got = well ? SSL_read(ssl.get(), buffer.data(), buffer.size()) : 0;
    well = got > 0 && nghttp2_session_mem_recv(session, buffer.data(), static_cast<size_t>(got)) >= 0;
  }
  nghttp2_session_del(session);
  pollfd gone{socket, 0, 0};
  if (state.hang) poll(&gone, 1, -1);  // until one side or the other ends it
  shutdown(socket, SHUT_RDWR);
}

}  // namespace tutti::kube
