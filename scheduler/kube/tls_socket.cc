// SPDX-License-Identifier: Apache-2.0
#include "kube/tls_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "kube/pem.h"

namespace tutti::kube {
namespace {

constexpr unsigned char kAlpn[] = "\x02h2\x08http/1.1";
constexpr size_t kReadSize = 64 * 1024;
constexpr int kReadsAtOnce = 64;  // of 16 KiB each; then timers and other sockets get their turn

std::string TlsError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return code == 0 ? "connection closed" : text.data();
}

bool IsAddress(const std::string& host) {
  unsigned char buffer[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), buffer) == 1 || inet_pton(AF_INET6, host.c_str(), buffer) == 1;
}

// Makes a close drop bytes that were not delivered, also at the end of the process. Otherwise the kernel would go on to
// deliver them, and a write could take effect long after this process has given the lease up.
void ResetAtClose(int fd, bool reset) {
  const linger how{.l_onoff = reset ? 1 : 0, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &how, sizeof how);
}

bool TrustOnly(SSL_CTX* context, const std::string& pem) {
  const BioPtr bio = Memory(pem);
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  // An intermediate authority in the file is trusted by itself, as in Go's certificate pools.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  int count = 0;
  while (const X509Ptr certificate{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), &X509_free}) {
    X509_STORE_add_cert(store, certificate.get());
    ++count;
  }
  ERR_clear_error();  // the end of the list is reported as an error
  return count > 0;
}

// Sets the client certificate: the leaf first, then its chain.
bool UseCertificate(SSL_CTX* context, const Credential& credential) {
  const BioPtr certs = Memory(credential.client_cert_pem), key_text = Memory(credential.client_key_pem);
  const X509Ptr leaf{PEM_read_bio_X509(certs.get(), nullptr, nullptr, nullptr), &X509_free};
  if (leaf == nullptr || SSL_CTX_use_certificate(context, leaf.get()) != 1) return false;
  while (const X509Ptr next{PEM_read_bio_X509(certs.get(), nullptr, nullptr, nullptr), &X509_free})
    if (SSL_CTX_add1_chain_cert(context, next.get()) != 1) return false;
  ERR_clear_error();
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{
      PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free};
  return key != nullptr && SSL_CTX_use_PrivateKey(context, key.get()) == 1 && SSL_CTX_check_private_key(context) == 1;
}

}  // namespace

bool ClientPairWorks(const Credential& credential) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> scratch{SSL_CTX_new(TLS_client_method()), &SSL_CTX_free};
  const bool works = scratch != nullptr && UseCertificate(scratch.get(), credential);
  ERR_clear_error();
  return works;
}

base::Result<std::shared_ptr<TlsContext>> TlsContext::Make(const Config& config, const Credential& credential) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  if (context == nullptr) return base::Fail(base::ErrorCode::kInternal, "TLS: " + TlsError());
  std::shared_ptr<TlsContext> made(new TlsContext(context));
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_alpn_protos(context, kAlpn, sizeof kAlpn - 1);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);  // a record's head and body in one system call
  SSL_CTX_set_default_read_buffer_len(context, kReadSize);
  made->verify_ = !config.insecure_skip_tls_verify;
  made->server_name_ = config.tls_server_name.empty() ? SplitUrl(config.server).host : config.tls_server_name;
  SSL_CTX_set_verify(context, made->verify_ ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (!config.ca_pem.empty() && !TrustOnly(context, config.ca_pem))
    return base::Invalid(config.source + ": the certificate authority holds no certificate");
  if (config.ca_pem.empty()) SSL_CTX_set_default_verify_paths(context);
  if (!credential.client_cert_pem.empty() && !UseCertificate(context, credential))
    return base::Invalid(config.source + ": the client certificate and its key cannot be used: " + TlsError());
  return made;
}

// --- Connecting ---

// Shared with the thread that looks up the name; the socket may be destroyed before that thread ends.
struct TlsSocket::Lookup {
  TlsSocket* socket = nullptr;  // the loop's thread only; null: gone
  addrinfo* addresses = nullptr;
  int error = 0;
  ~Lookup() {
    if (addresses != nullptr) freeaddrinfo(addresses);
  }
};

TlsSocket::TlsSocket(EpollLoop& loop, std::shared_ptr<TlsContext> tls, const Url& url, Callbacks callbacks)
    : loop_(loop), tls_(std::move(tls)), callbacks_(std::move(callbacks)) {
  StartLookup(url);
}

TlsSocket::~TlsSocket() {
  lookup_->socket = nullptr;
  loop_.CancelTimer(close_timer_);
  loop_.CancelTimer(read_timer_);
  if (ssl_ != nullptr) {
    if (AllArrived()) {
      SSL_shutdown(ssl_);  // sends close_notify if that does not block
      ResetAtClose(fd_, false);
    }
    SSL_free(ssl_);
  }
  ERR_clear_error();
  if (fd_ >= 0) {
    loop_.Unwatch(fd_);
    close(fd_);
  }
}

bool TlsSocket::AllArrived() const {
  int unacknowledged = 0;
  return state_ == State::kOpen && unsent() == 0 && ioctl(fd_, SIOCOUTQ, &unacknowledged) == 0 && unacknowledged == 0;
}

void TlsSocket::StartLookup(const Url& url) {
  lookup_ = std::make_shared<Lookup>();
  lookup_->socket = this;
  const auto look = [lookup = lookup_, host = url.host, port = url.port](int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    lookup->error = getaddrinfo(host.c_str(), port.c_str(), &hints, &lookup->addresses);
  };
  const auto tell = [lookup = lookup_] {
    if (lookup->socket != nullptr) lookup->socket->OnAddresses(*lookup);
  };
  if (IsAddress(url.host)) {
    look(AI_NUMERICHOST | AI_NUMERICSERV);
    loop_.After(0, tell);
  } else {
    std::thread([look, tell, inbox = loop_.inbox()] {
      look(AI_NUMERICSERV);
      inbox->Post(tell);
    }).detach();
  }
}

void TlsSocket::OnAddresses(Lookup& lookup) {
  if (lookup.error != 0) return Close(std::string("name lookup: ") + gai_strerror(lookup.error));
  state_ = State::kConnect;
  dialer_ = std::make_unique<Dialer>(loop_, lookup.addresses,
                                     [this](int fd, const std::string& why) { fd < 0 ? Close(why) : OnConnected(fd); });
  dialer_->Start();
}

void TlsSocket::OnConnected(int fd) {
  fd_ = fd;
  ResetAtClose(fd_, true);
  ssl_ = SSL_new(tls_->get());
  SSL_set_fd(ssl_, fd_);
  SSL_set_connect_state(ssl_);
  const std::string& name = tls_->server_name();
  if (IsAddress(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), name.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl_, name.c_str());
    SSL_set_hostflags(ssl_, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    SSL_set1_host(ssl_, name.c_str());
  }
  state_ = State::kHandshake;
  Handshake();
}

void TlsSocket::Handshake() {
  const int result = SSL_do_handshake(ssl_);
  if (result == 1) {
    state_ = State::kOpen;
    Listen(false);
    const unsigned char* protocol = nullptr;
    unsigned length = 0;
    SSL_get0_alpn_selected(ssl_, &protocol, &length);
    callbacks_.ready(std::string_view(reinterpret_cast<const char*>(protocol), length));
    if (state_ == State::kOpen) Read();  // bytes that came with the handshake
    return;
  }
  const int error = SSL_get_error(ssl_, result);
  if (error == SSL_ERROR_WANT_READ) return Listen(false);
  if (error == SSL_ERROR_WANT_WRITE) return Listen(true);
  const long verdict = SSL_get_verify_result(ssl_);
  if (tls_->verify() && verdict != X509_V_OK)
    return Close(fmt::format("TLS: the certificate of {} is not trusted: {}", tls_->server_name(),
                             X509_verify_cert_error_string(verdict)));
  Close("TLS: " + TlsError());
}

// --- Bytes ---

void TlsSocket::Listen(bool writable) {
  writable_watched_ = writable;
  loop_.Watch(fd_, writable ? uint32_t{EPOLLIN | EPOLLOUT} : uint32_t{EPOLLIN},
              [this](uint32_t events) { OnReady(events); });
}

void TlsSocket::OnReady(uint32_t events) {
  if (state_ == State::kHandshake) return Handshake();
  if ((events & EPOLLOUT) != 0) Write();
  if (state_ == State::kOpen && (events & ~uint32_t{EPOLLOUT}) != 0) Read();
}

void TlsSocket::Read() {
  static thread_local std::array<char, kReadSize> buffer;
  for (int reads = 0; state_ == State::kOpen; ++reads) {
    if (reads == kReadsAtOnce) return ReadOn();
    ERR_clear_error();
    const int got = SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()));
    if (got > 0) {
      callbacks_.received(std::string_view(buffer.data(), static_cast<size_t>(got)));
      continue;
    }
    const int error = SSL_get_error(ssl_, got);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return;
    const int number = errno;
    return Close(error == SSL_ERROR_ZERO_RETURN              ? "closed by the server"
                 : error == SSL_ERROR_SYSCALL && number != 0 ? std::strerror(number)
                                                             : TlsError());
  }
}

// Reads on in the next turn: epoll does not report bytes that were already taken from the socket.
void TlsSocket::ReadOn() {
  if (read_timer_ != 0) return;
  read_timer_ = loop_.After(0, [this] {
    read_timer_ = 0;
    Read();
  });
}

void TlsSocket::Flush() {
  if (state_ == State::kOpen && !writable_watched_) Write();
}

void TlsSocket::Write() {
  while (unsent() > 0) {
    ERR_clear_error();
    const int sent = SSL_write(ssl_, out_.data() + out_at_, static_cast<int>(std::min<size_t>(unsent(), 1 << 30)));
    if (sent <= 0) {
      const int error = SSL_get_error(ssl_, sent);
      if (error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_READ) {
        if (!writable_watched_) Listen(true);
        return;
      }
      // The next read reports the error, so that no callback runs inside Flush.
      const std::string why = error == SSL_ERROR_SYSCALL ? std::strerror(errno) : TlsError();
      if (close_timer_ == 0) close_timer_ = loop_.After(0, [this, why] { Close(why); });
      return;
    }
    out_at_ += static_cast<size_t>(sent);
  }
  out_.clear();
  out_at_ = 0;
  if (writable_watched_) Listen(false);
}

void TlsSocket::Close(const std::string& why) {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  if (fd_ >= 0) loop_.Unwatch(fd_);
  callbacks_.closed(why);  // may destroy this
}

}  // namespace tutti::kube
