// SPDX-License-Identifier: Apache-2.0
#include "server/acceptor.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "server/listening.h"

namespace tutti::server {
namespace {

constexpr int kBacklog = 128;
constexpr int kPauseMs = 100;  // after the system had no descriptor left

int PortOf(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

// Returns a socket that listens, or -1 with errno.
int ListenOn(const std::string& address, const Acceptor::Options& options) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(address.c_str(), std::to_string(options.port).c_str(), &hints, &found) != 0) return -1;
  int listener = -1;
  for (const addrinfo* at = found; at != nullptr && listener < 0; at = at->ai_next) {
    const int made = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0) continue;
    PrepareToListen(made, options.share_port);
    if (bind(made, at->ai_addr, at->ai_addrlen) == 0 && listen(made, kBacklog) == 0) {
      listener = made;
      continue;
    }
    const int error = errno;
    close(made);
    errno = error;
  }
  freeaddrinfo(found);
  return listener;
}

}  // namespace

Acceptor::Acceptor(int listener, int port, int most)
    : listener_(listener),
      poll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      port_(port),
      most_(most) {}

base::Result<std::unique_ptr<Acceptor>> Acceptor::Listen(const Options& options) {
  const std::string address = ListenAddress(options.address);
  errno = 0;
  const int listener = ListenOn(address, options);
  if (listener < 0) return base::Fail(base::ErrorCode::kUnavailable, WhyNotListening(address, errno));
  std::unique_ptr<Acceptor> made(new Acceptor(listener, PortOf(listener), options.most));
  if (made->poll_ < 0 || made->wake_ < 0)
    return base::Fail(base::ErrorCode::kUnavailable, "the system has no descriptors left");
  return made;
}

void Acceptor::Begin(Take take) {
  take_ = std::move(take);
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "accept");
    Run();
  });
}

Acceptor::~Acceptor() {
  if (thread_.joinable()) {
    eventfd_write(wake_, 1);
    thread_.join();
  }
  for (const int descriptor : open_) close(descriptor);
  for (const int descriptor : {listener_, poll_, wake_})
    if (descriptor >= 0) close(descriptor);
}

void Acceptor::LookIfRoom() {
  const bool look = HasRoom();
  if (look == looks_) return;
  epoll_event event{EPOLLIN, {.fd = listener_}};
  epoll_ctl(poll_, look ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener_, &event);
  looks_ = look;
}

void Acceptor::TakeAll() {
  while (HasRoom()) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) {
      if (errno == EMFILE || errno == ENFILE) usleep(kPauseMs * 1000);
      return;
    }
    const int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    // A descriptor of our own tells when the connection has ended; the library may close its own at any time.
    const int ours = fcntl(socket, F_DUPFD_CLOEXEC, 0);
    epoll_event event{0, {.fd = ours}};  // a hang-up is always told
    if (ours < 0 || epoll_ctl(poll_, EPOLL_CTL_ADD, ours, &event) != 0) {
      if (ours >= 0) close(ours);
      close(socket);
      continue;
    }
    open_.insert(ours);
    take_(socket);
  }
}

void Acceptor::Run() {
  epoll_event wake{EPOLLIN, {.fd = wake_}};
  epoll_ctl(poll_, EPOLL_CTL_ADD, wake_, &wake);
  std::array<epoll_event, 64> events{};
  for (;;) {
    LookIfRoom();
    const int count = epoll_wait(poll_, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int descriptor = events[static_cast<size_t>(i)].data.fd;
      if (descriptor == wake_) return;
      if (descriptor == listener_) {
        TakeAll();
        continue;
      }
      // Closing it is not enough as long as the library has not closed its own: the events would go on, with a number
      // that soon is another file's.
      epoll_ctl(poll_, EPOLL_CTL_DEL, descriptor, nullptr);
      close(descriptor);
      open_.erase(descriptor);
    }
  }
}

}  // namespace tutti::server
