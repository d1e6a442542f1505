// SPDX-License-Identifier: Apache-2.0
#include "server/connections.h"

#include <pthread.h>

#include <algorithm>
#include <deque>
#include <future>

#include "rig.h"

namespace tutti::server {
namespace {

// A server whose health page is open to all, as any peer of no credential finds it.
struct Door {
  SkippingClock clock;
  std::string problem;
  Pages pages = SomePages(&problem);
  std::unique_ptr<Server> server;

  int Open(ServerOptions options = OnLoopback()) {
    auto started = Server::Start(options, pages, clock, nullptr);
    REQUIRE(started);
    server = *std::move(started);
    return server->port();
  }
};

// The beginning of a TLS record of 16 KiB.
constexpr std::string_view kHelloBegins("\x16\x03\x01\x40\x00\x01", 6);

// No faster than they are taken: the library has the kernel keep five for it.
std::deque<RawClient> SlowClients(int port, int count, std::string_view greeting = kHelloBegins) {
  std::deque<RawClient> slow;
  for (int i = 0; i < count; ++i) {
    if (i % 5 == 0) Get(port, "/livez");
    slow.emplace_back(port).Say(greeting);
  }
  return slow;
}

int StatusOf(const httplib::Result& answer) { return answer ? answer->status : -1; }

TEST_CASE("clients that connect and say nothing keep no other client out") {
  Door door;
  const int port = door.Open();
  const auto silent = SlowClients(port, 100, "");
  CHECK(StatusOf(Get(port, "/livez")) == 200);
}

TEST_CASE("a client that never ends a handshake or a request's head is cut when its time is over") {
  Door door;
  const int port = door.Open();
  const RawClient in_handshake(port);
  in_handshake.Say(kHelloBegins);
  const TlsClient in_a_line(port), in_lines(port);
  in_a_line.Say("GET /livez HTTP/1.1\r\nX: ");
  in_lines.Say("GET /livez HTTP/1.1\r\n");
  CHECK(StatusOf(Get(port, "/livez")) == 200);  // they were there before
  door.clock.Skip(Connections::kHeadMs);
  CHECK(in_handshake.IsHungUpOn([&] { in_handshake.Say("x"); }));
  CHECK(in_a_line.raw().IsHungUpOn([&] { in_a_line.Say("x"); }));
  CHECK(in_lines.raw().IsHungUpOn([&] { in_lines.Say("X: x\r\n"); }));
}

TEST_CASE("as many slow ones as there are places keep the probes out for their time only") {
  Door door;
  const int port = door.Open();
  auto slow = SlowClients(port, Connections::kMost);
  auto probe = std::async(std::launch::async, [port] { return StatusOf(Get(port, "/livez")); });
  door.clock.Skip(Connections::kHeadMs);
  CHECK(slow.front().IsHungUpOn([&] { slow.front().Say("x"); }));
  slow.clear();
  CHECK(probe.get() == 200);
}

TEST_CASE("what we need ourselves for an answer is not the peer's time") {
  Door door;
  int port = 0, other = 0;
  const auto late = [&](const Query&) {
    door.clock.Skip(Connections::kHeadMs);
    other = StatusOf(Get(port, "/livez"));  // with each new connection the times of the others are looked at
    return PageAnswer{.body = "late"};
  };
  std::ranges::find(door.pages.shown, "/metrics", &Page::path)->show = late;
  ServerOptions options = OnLoopback();
  options.always_allow_loopback = true;
  port = door.Open(options);
  const auto metrics = Get(port, "/metrics");
  REQUIRE(metrics);
  CHECK(metrics->body == "late");
  CHECK(other == 200);
}

TEST_CASE("an endless head is read no further than its bound") {
  Door door;
  const int port = door.Open();
  const std::string line = "X: " + std::string(1'000, 'x');
  for (const std::string& next : {line, line + "\r\n"}) {
    const TlsClient client(port);
    client.Say("GET /livez HTTP/1.1\r\n");
    size_t said = 0;
    constexpr size_t kFarTooMuch = 64 * 1024 * 1024;
    while (said < kFarTooMuch && client.Say(next)) said += next.size();
    CHECK(said >= line.size());
    CHECK(said < kFarTooMuch);
  }
}

TEST_CASE("a head that with its handshake comes near the bound is answered") {
  Door door;
  constexpr size_t kHandshake = 8 * 1024;
  const std::string line = "X: " + std::string(1'000, 'x') + "\r\n";
  std::string head = "GET /livez HTTP/1.1\r\nConnection: close\r\n";
  while (head.size() + line.size() < Connections::kMostBytes - kHandshake) head += line;
  const TlsClient client(door.Open());
  CHECK(client.Say(head + "\r\n"));
  CHECK(client.Hear().starts_with("HTTP/1.1 200"));
}

TEST_CASE("a server that ends waits for no peer") {
  Door door;
  const int port = door.Open();
  const TlsClient in_head(port);
  in_head.Say("GET /livez HTTP/1.1\r\nX: ");
  auto slow = SlowClients(port, Connections::kMost - 1);
  const RawClient waiting(port);  // for a place
  auto end = std::async(std::launch::async, [&] { door.server.reset(); });
  CHECK(in_head.raw().IsHungUpOn([&] { in_head.Say("x"); }));
  CHECK(slow.front().IsHungUpOn([&] { slow.front().Say("x"); }));
  slow.clear();
  end.wait();
}

// While it lives no thread can be started, as where a container's pids have run out.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t huge;
    REQUIRE(pthread_getattr_default_np(&before_) == 0);
    REQUIRE(pthread_attr_init(&huge) == 0);
    REQUIRE(pthread_attr_setstacksize(&huge, size_t{1} << 50) == 0);
    REQUIRE(pthread_setattr_default_np(&huge) == 0);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

TEST_CASE("where no thread can be had a connection is dropped, and the next one served") {
  Door door;
  const int port = door.Open();
  {
    const NoThreads none;
    const RawClient dropped(port);
    dropped.Say(kHelloBegins);
    CHECK(dropped.IsHungUpOn([&] { dropped.Say("x"); }));
  }
  CHECK(StatusOf(Get(port, "/livez")) == 200);
}

}  // namespace
}  // namespace tutti::server
