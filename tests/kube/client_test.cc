// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>

#include "base/mailbox.h"
#include "tests/support/catch.h"
#include "tests/support/http_rig.h"

namespace tutti::kube {
namespace {

class EventBox final : public cluster::EventSink {
 public:
  void Post(cluster::FeedEvent event) override { events_.Put(std::move(event)); }
  // The next; within a minute.
  std::vector<cluster::FeedEvent> Take() { return events_.TakeAll(std::chrono::minutes(1)); }

 private:
  base::Mailbox<cluster::FeedEvent> events_;
};

// Takes connections and says nothing.
class MuteServer {
 public:
  MuteServer() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(listener_, 8) == 0);
    REQUIRE(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  ~MuteServer() {
    for (const int one : accepted_) close(one);
    close(listener_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  void Accept() { accepted_.push_back(accept(listener_, nullptr, nullptr)); }

 private:
  const int listener_;
  int port_ = 0;
  std::vector<int> accepted_;
};

KubeClient MakeClient(const std::string& url, const base::Clock& clock, cluster::EventSink& sink) {
  Config config;
  config.server = url;
  return KubeClient(config, {}, clock, sink);
}

TEST_CASE("a shutdown ends calls that are under way, and those to come") {
  const base::SystemClock clock;
  EventBox events;
  MuteServer mute;
  KubeClient client = MakeClient(mute.url(), clock, events);
  auto under_way = std::async(std::launch::async, [&] { return client.Get("/version"); });
  mute.Accept();
  client.Shutdown(0);
  const auto cut = under_way.get();
  REQUIRE_FALSE(cut);
  CHECK(cut.error().message == "shutting down");
  const auto late = client.Get("/version");
  REQUIRE_FALSE(late);
  CHECK(late.error().message == "shutting down");
}

// An API server that has a Lease and nothing else; a client that takes it loses it with the first renewal.
class TakesLeaseBack {
 public:
  std::string url() const { return rig_.url(); }

 private:
  void Route(httplib::Server& http) {
    http.Get(".*", [this](const httplib::Request&, httplib::Response& response) {
      if (taken_)
        response.set_content(
            R"({"metadata":{"name":"tutti"},"spec":{"holderIdentity":"other","leaseDurationSeconds":15}})",
            "application/json");
      else
        response.status = 404;
    });
    http.Post(".*", [this](const httplib::Request& request, httplib::Response& response) {
      taken_ = true;
      response.status = 201;
      response.set_content(request.body, "application/json");
    });
    http.Put(".*", [](const httplib::Request&, httplib::Response& response) { response.status = 409; });
  }

  std::atomic<bool> taken_ = false;
  const tests::HttpRig rig_{[this](httplib::Server& http) { Route(http); }};
};

TEST_CASE("a lease that is lost before its winner got to lead is told of") {
  const base::SystemClock clock;
  EventBox events;
  TakesLeaseBack server;
  KubeClient client = MakeClient(server.url(), clock, events);
  LeaseOptions lease;
  lease.identity = "me";
  lease.retry_period_ms = 10;
  client.Elect(lease);  // no pods are listed: none leads before
  const auto told = events.Take();
  REQUIRE(told.size() == 1);
  REQUIRE(std::holds_alternative<cluster::Leadership>(told[0]));
  CHECK_FALSE(std::get<cluster::Leadership>(told[0]).leading);
}

}  // namespace
}  // namespace tutti::kube
