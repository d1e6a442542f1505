// SPDX-License-Identifier: Apache-2.0
#include "kube/http2_transport.h"

#include <future>
#include <thread>

#include "base/file.h"
#include "certificates.h"
#include "http2_server.h"
#include "kube/epoll_loop.h"
#include "skipping_clock.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

using Failure = Response::Failure;

// What stands behind for HTTP/1.1: answers by itself.
class Http1 final : public Transport {
 public:
  explicit Http1(Loop& loop) : loop_(loop) {}
  RequestId Send(Request, OnDone done, OnData) override {
    loop_.After(0, [done = std::move(done)]() mutable {
      Response response;
      response.status = 200;
      response.body = "over HTTP/1.1";
      done(std::move(response));
    });
    return ++last_;
  }
  void Cancel(RequestId) override {}

 private:
  Loop& loop_;
  RequestId last_ = 0;
};

Config ConfigFor(const std::string& url, bool verify) {
  Config config;
  config.server = url;
  config.insecure_skip_tls_verify = !verify;
  config.source = "a test";
  return config;
}

std::shared_ptr<const Credential> NoUser() {
  auto credential = std::make_shared<Credential>();
  credential->generation = 1;
  return credential;
}

struct TransportRig {
  explicit TransportRig(const Http2Server& server) : TransportRig(ConfigFor(server.url(), false)) {}
  explicit TransportRig(const Config& to) : config(to), loop(clock), http1(loop) {
    transport = std::make_unique<Http2Transport>(config, "test", loop, http1);
    thread = std::thread([this] { loop.Run(); });
  }
  ~TransportRig() {
    loop.Post([this] { transport.reset(); });
    loop.Stop();
    thread.join();
  }

  // Sends all in one turn of the loop.
  std::vector<std::future<Response>> SendAll(std::vector<Request> requests) {
    std::vector<std::future<Response>> answers;
    std::promise<void> sent;
    loop.Post([&] {
      for (Request& request : requests) {
        auto answer = std::make_shared<std::promise<Response>>();
        answers.push_back(answer->get_future());
        if (!request.credential) request.credential = NoUser();
        transport->Send(std::move(request), [answer](Response response) { answer->set_value(std::move(response)); },
                        {});
      }
      sent.set_value();
    });
    sent.get_future().wait();
    return answers;
  }
  // Returns once the first piece of the body is there.
  std::future<Response> Watch(const std::string& path, base::Millis timeout_ms) {
    const auto answer = std::make_shared<std::promise<Response>>();
    std::promise<void> begun;
    loop.Post([&] {
      Request request;
      request.target = path;
      request.timeout_ms = timeout_ms;
      request.credential = NoUser();
      transport->Send(
          std::move(request), [answer](Response response) { answer->set_value(std::move(response)); },
          [&begun](const Response&, std::string_view) { begun.set_value(); });
    });
    begun.get_future().wait();
    return answer->get_future();
  }
  Response Get(const std::string& path, base::Millis timeout_ms = 10'000) {
    std::vector<Request> one(1);
    one[0].target = path;
    one[0].timeout_ms = timeout_ms;
    return SendAll(std::move(one))[0].get();
  }

  SkippingClock clock;
  const Config config;
  EpollLoop loop;
  Http1 http1;
  std::unique_ptr<Http2Transport> transport;
  std::thread thread;
};

TEST_CASE("requests of one channel share a connection") {
  const Http2Server server;
  TransportRig rig(server);
  std::vector<Request> many(500);
  for (Request& request : many) request.target = "/ok";
  for (auto& answer : rig.SendAll(std::move(many))) {
    const Response response = answer.get();
    CHECK(response.ok());
    CHECK(response.body == "connection 1");
    CHECK(response.content_type == "text/plain");
  }
  CHECK(server.connections() == 1);
}

TEST_CASE("bodies go and come whole, whatever their size") {
  const Http2Server server;
  TransportRig rig(server);
  std::vector<Request> post(1);
  post[0].method = Method::kPost;
  post[0].target = "/echo";
  for (int i = 0; i < 200'000; ++i) post[0].body += static_cast<char>('a' + i % 26);
  const std::string sent = post[0].body;
  CHECK(rig.SendAll(std::move(post))[0].get().body == sent);
  CHECK(rig.Get("/big").body.size() == Http2Server::kBigBody);
}

TEST_CASE("a request names the user that it impersonates") {
  const Http2Server server;
  TransportRig rig(server);
  auto credential = std::make_shared<Credential>(*NoUser());
  credential->impersonation = {{"impersonate-user", "robot"}, {"impersonate-group", "a"}, {"impersonate-group", "b"}};
  std::vector<Request> one(1);
  one[0].target = "/as";
  one[0].credential = credential;
  CHECK(rig.SendAll(std::move(one))[0].get().body ==
        "impersonate-user: robot;impersonate-group: a;impersonate-group: b;");
}

TEST_CASE("what was refused, or asked to leave before it was sent, goes again") {
  const Http2Server server;
  TransportRig rig(server);
  CHECK(rig.Get("/refuse").ok());
  CHECK(rig.Get("/leave").body == "connection 1");
  CHECK(rig.Get("/ok").body == "connection 2");
}

TEST_CASE("a request that left and has no answer may have happened") {
  const Http2Server server;
  TransportRig rig(server);
  SECTION("when the connection breaks") {
    const Response response = rig.Get("/cut");
    CHECK(response.failure == Failure::kLost);
    CHECK(response.status == 0);
    CHECK(rig.Get("/ok").body == "connection 2");
  }
  SECTION("when time is up") {
    REQUIRE(rig.Get("/ok").ok());  // the connection is there: the next request leaves at once
    std::vector<Request> late(1);
    late[0].target = "/late";
    late[0].timeout_ms = 300;
    auto answers = rig.SendAll(std::move(late));
    CHECK(rig.Get("/ok").body == "connection 1");
    CHECK(answers[0].get().failure == Failure::kTimeout);
    CHECK(rig.Get("/ok").body == "connection 1");
  }
}

TEST_CASE("a connection on which nothing is heard until time is up takes no more") {
  const Http2Server server;
  TransportRig rig(server);
  REQUIRE(rig.Get("/ok").body == "connection 1");
  CHECK(rig.Get("/hang", 100).failure == Failure::kTimeout);
  CHECK(rig.Get("/ok", 5'000).body == "connection 2");
}

TEST_CASE("an answer that breaks off keeps the status that came") {
  const Http2Server server;
  TransportRig rig(server);
  auto watch = rig.Watch("/begin", 600'000);
  Failure expected = Failure::kLost;
  SECTION("when the connection breaks") { CHECK(rig.Get("/cut").status == 0); }
  SECTION("when time is up") {
    expected = Failure::kTimeout;
    Skip(600'000, rig.clock, rig.loop);
  }
  const Response response = watch.get();
  CHECK(response.failure == expected);
  CHECK(response.status == 200);
  CHECK_FALSE(response.error.empty());
}

TEST_CASE("a connection whose frames make no sense is given up with all that it carries") {
  const Http2Server server;
  TransportRig rig(server);
  CHECK(rig.Get("/nonsense").failure == Failure::kLost);
  CHECK(rig.Get("/ok").body == "connection 2");
}

TEST_CASE("a connection without answers is given up, and the next request makes another") {
  const Http2Server server;
  TransportRig rig(server);
  REQUIRE(rig.Get("/ok").body == "connection 1");
  std::vector<Request> watch(1);
  watch[0].target = "/hang";
  watch[0].timeout_ms = 50'000;
  auto answers = rig.SendAll(std::move(watch));
  Skip(30'000, rig.clock, rig.loop);
  Skip(15'000, rig.clock, rig.loop);
  const Response response = answers[0].get();
  CHECK(response.failure == Failure::kLost);
  CHECK_THAT(response.error, Catch::Contains("PING"));
  CHECK(rig.Get("/ok").body == "connection 2");
}

TEST_CASE("a connection that answers is kept, however silent its streams are") {
  const Http2Server server;
  TransportRig rig(server);
  std::vector<Request> watch(1);
  watch[0].target = "/late";
  auto answers = rig.SendAll(std::move(watch));
  for (int i = 0; i < 3; ++i) {
    CHECK(rig.Get("/ok").body == "connection 1");
    CHECK(server.pings() == i);
    Skip(30'000, rig.clock, rig.loop);
  }
  CHECK(answers[0].wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
}

TEST_CASE("a request that cannot leave has not happened") {
  std::string url;
  {
    const Http2Server gone;
    url = gone.url();
  }
  TransportRig rig(ConfigFor(url, false));
  const Response response = rig.Get("/ok");
  CHECK(response.failure == Failure::kNotSent);
  CHECK_THAT(response.error, Catch::Contains("cannot connect"));
}

TEST_CASE("a request whose time to leave is over does not leave") {
  const Http2Server server;
  TransportRig rig(server);
  std::vector<Request> late(1);
  late[0].method = Method::kPost;
  late[0].target = "/echo";
  late[0].body = "x";
  late[0].not_after_ms = rig.clock.MonotonicMs() - 1;
  CHECK(rig.SendAll(late)[0].get().failure == Failure::kNotSent);
  late[0].not_after_ms = rig.clock.MonotonicMs() + 60'000;
  CHECK(rig.SendAll(late)[0].get().body == "x");
}

TEST_CASE("a certificate that no authority has signed is refused") {
  const Http2Server server;
  TransportRig rig(ConfigFor(server.url(), true));
  const Response response = rig.Get("/ok");
  CHECK(response.failure == Failure::kNotSent);
  CHECK_THAT(response.error, Catch::Contains("is not trusted"));
}

TEST_CASE("an intermediate authority that is named is trusted for itself") {
  const Folder folder;
  MakeCertificate(folder, "root");
  MakeCertificate(folder, "intermediate", "root");
  MakeCertificate(folder, "server", "intermediate");
  auto certificate = server::Certificate::Load({folder.At("server.crt"), folder.At("server.key")});
  REQUIRE(certificate);
  const Http2Server server("h2", *certificate);
  Config config = ConfigFor(server.url(), true);
  config.ca_pem = *base::ReadFile(folder.At("intermediate.crt"));
  TransportRig rig(config);
  const Response response = rig.Get("/ok");
  INFO(response.error);
  CHECK(response.ok());
}

TEST_CASE("a connection is made with the authorities that their file holds then") {
  const Folder folder;
  MakeCertificate(folder, "old");
  MakeCertificate(folder, "new");
  auto certificate = server::Certificate::Load({folder.At("new.crt"), folder.At("new.key")});
  REQUIRE(certificate);
  const Http2Server server("h2", *certificate);
  Config config = ConfigFor(server.url(), true);
  config.ca_pem = *base::ReadFile(folder.At("old.crt"));
  config.ca_file = folder.Write("ca.crt", config.ca_pem);
  TransportRig rig(config);
  CHECK_THAT(rig.Get("/ok").error, Catch::Contains("is not trusted"));
  folder.Write("ca.crt", *base::ReadFile(folder.At("new.crt")));
  const Response response = rig.Get("/ok");
  INFO(response.error);
  CHECK(response.ok());
}

TEST_CASE("a server without HTTP/2 gets all through the other transport") {
  const Http2Server server("http/1.1");
  TransportRig rig(server);
  CHECK(rig.Get("/ok").body == "over HTTP/1.1");
  CHECK(rig.Get("/ok").body == "over HTTP/1.1");
  CHECK(server.connections() == 1);
}

TEST_CASE("a request that is cancelled from inside its own data is heard of no more") {
  const Http2Server server;
  TransportRig rig(server);
  std::promise<size_t> first_piece;
  bool done = false;
  RequestId id = 0;
  rig.loop.Post([&] {
    Request request;
    request.target = "/big";
    request.credential = NoUser();
    id = rig.transport->Send(
        std::move(request), [&](Response) { done = true; },
        [&](const Response&, std::string_view piece) {
          rig.transport->Cancel(id);
          first_piece.set_value(piece.size());  // a second call would throw
        });
  });
  CHECK(first_piece.get_future().get() > 0);
  CHECK(rig.Get("/ok").ok());
  CHECK_FALSE(done);
}

}  // namespace
}  // namespace tutti::kube
