// SPDX-License-Identifier: Apache-2.0
#include "server/connections.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <limits>
#include <system_error>

#include "base/log.h"

namespace tutti::server {
namespace {

constexpr base::Millis kAtOnce = std::numeric_limits<base::Millis>::min();

}  // namespace

thread_local Connections::Connection* Connections::served_ = nullptr;

// Called before each read; ends the input after the most that the connection may send.
long Connections::EndAfterMostBytes(BIO* bio, int operation, const char*, size_t, int, long, int result, size_t*) {
  const uint64_t most = served_ != nullptr ? served_->most_bytes : kMostBytes;
  if (operation != BIO_CB_READ || BIO_number_read(bio) < most) return result;
  BIO_clear_retry_flags(bio);
  return 0;
}

Connections::Connection::~Connection() {
  if (thread.joinable()) thread.join();
  if (socket >= 0) close(socket);
}

void Connections::Install(SSL_CTX& context) { SSL_CTX_set_info_callback(&context, &Connections::OnHandshake); }

// Called when a handshake begins: the connection's socket is then known, and nothing was read from it yet.
void Connections::OnHandshake(const SSL* ssl, int where, int) {
  if (where != SSL_CB_HANDSHAKE_START || served_ == nullptr || served_->socket >= 0) return;
  const int theirs = SSL_get_fd(ssl);
  BIO_set_callback_ex(SSL_get_rbio(ssl), &EndAfterMostBytes);
  served_->socket = fcntl(theirs, F_DUPFD_CLOEXEC, 0);
  // A connection that could not be cut later is not served.
  if (served_->socket < 0 || served_->cut_at_ms == kAtOnce) ::shutdown(theirs, SHUT_RDWR);
}

void Connections::HeadIsRead() {
  if (served_ != nullptr) served_->cut_at_ms = served_->clock.MonotonicMs() + kAnswerMs;
}

// TLS adds some to each record, which a client may make as short as it likes.
void Connections::LetBodyBeRead(size_t bytes) {
  if (served_ != nullptr) served_->most_bytes = kMostBytes + 2 * static_cast<uint64_t>(bytes);
}

// Cuts the connection now, or its own thread does so when it has the socket.
void Connections::Cut(Connection& one) {
  one.cut_at_ms = kAtOnce;
  if (const int socket = one.socket; socket >= 0) ::shutdown(socket, SHUT_RDWR);
}

void Connections::Serve(Connection& one, const std::function<void()>& serve) {
  served_ = &one;
  serve();
  served_ = nullptr;
  one.done = true;
  places_.release();
}

void Connections::enqueue(std::function<void()> serve) {
  while (!places_.try_acquire_for(kLook)) on_idle();
  on_idle();
  Connection& one = open_.emplace_back(clock_);
  try {
    one.thread = std::thread([this, &one, serve] { Serve(one, serve); });
  } catch (const std::system_error& error) {
    base::LogWarn("a connection is dropped: no thread can be started", {{"error", error.what()}});
    // Only `serve` can close the socket; it does so at once if there is no input.
    Cut(one);
    Serve(one, serve);
  }
}

void Connections::on_idle() {
  open_.remove_if([](const Connection& one) { return one.done.load(); });
  const base::Millis now = clock_.MonotonicMs();
  for (Connection& one : open_)
    if (stopping_ || one.cut_at_ms <= now) Cut(one);
}

void Connections::shutdown() {
  for (Connection& one : open_) Cut(one);
  open_.clear();
}

}  // namespace tutti::server
