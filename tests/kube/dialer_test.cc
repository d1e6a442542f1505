// SPDX-License-Identifier: Apache-2.0
#include "kube/dialer.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "listener.h"
#include "skipping_clock.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

// Its one place is taken: what knocks hears nothing.
class BlackHole {
 public:
  BlackHole() : listener_(0), occupant_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    REQUIRE(connect(occupant_, listener_.address(), sizeof(sockaddr_in)) == 0);
    listener_.WaitForOne();
  }
  ~BlackHole() { close(occupant_); }
  sockaddr* address() { return listener_.address(); }

 private:
  Listener listener_;
  const int occupant_;
};

int PeerPort(int fd) {
  sockaddr_in peer{};
  socklen_t size = sizeof peer;
  getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size);
  return ntohs(peer.sin_port);
}

// Where a dialer that may have both ends up; -1: nowhere.
int PortReached(sockaddr* first, sockaddr* second) {
  std::array<addrinfo, 2> addresses{};
  for (addrinfo& address : addresses) {
    address.ai_family = AF_INET;
    address.ai_addrlen = sizeof(sockaddr_in);
  }
  addresses[0].ai_addr = first;
  addresses[0].ai_next = &addresses[1];
  addresses[1].ai_addr = second;
  SkippingClock clock;
  EpollLoop loop(clock);
  int port = -1;
  Dialer dialer(loop, addresses.data(), [&](int fd, const std::string&) {
    port = PeerPort(fd);
    close(fd);
    loop.Stop();
  });
  dialer.Start();
  loop.After(0, [&] { clock.Skip(2'000); });
  loop.After(10'000, [&] { loop.Stop(); });  // the connection's patience is at its end
  loop.Run();
  return port;
}

TEST_CASE("an address that does not answer is left for the next") {
  Listener live(1);
  BlackHole hole;
  CHECK(PortReached(hole.address(), live.address()) == live.port());
}

TEST_CASE("an address that refuses is left for the next") {
  Listener live(1);
  sockaddr_in closed{};
  closed.sin_family = AF_INET;
  closed.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  closed.sin_port = htons(1);
  CHECK(PortReached(reinterpret_cast<sockaddr*>(&closed), live.address()) == live.port());
}

}  // namespace
}  // namespace tutti::kube
