// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <httplib.h>

#include <atomic>
#include <thread>

#include "base/mailbox.h"
#include "tests/support/catch.h"

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

KubeClient MakeClient(const std::string& url, const base::Clock& clock, cluster::EventSink& sink) {
  Config config;
  config.server = url;
  return KubeClient(config, {}, clock, sink);
}

// An API server that has a Lease and nothing else; whoever takes it loses it with the first renewal.
class TakesLeaseBack {
 public:
  TakesLeaseBack() {
    http_.Get(".*", [this](const httplib::Request&, httplib::Response& response) {
      if (taken_)
        response.set_content(
            R"({"metadata":{"name":"tutti"},"spec":{"holderIdentity":"other","leaseDurationSeconds":15}})",
            "application/json");
      else
        response.status = 404;
    });
    http_.Post(".*", [this](const httplib::Request& request, httplib::Response& response) {
      taken_ = true;
      response.status = 201;
      response.set_content(request.body, "application/json");
    });
    http_.Put(".*", [](const httplib::Request&, httplib::Response& response) { response.status = 409; });
    port_ = http_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::yield();
  }
  ~TakesLeaseBack() {
    http_.stop();
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  httplib::Server http_;
  int port_ = 0;
  std::atomic<bool> taken_ = false;
  std::thread thread_;
};

TEST_CASE("a lease that is lost before its winner got to lead is told of") {
  const base::SystemClock clock;
  EventBox events;
  TakesLeaseBack server;
  KubeClient client = MakeClient(server.url(), clock, events);
  LeaseOptions lease;
  lease.identity = "me";
  lease.retry_period_ms = 10;
  client.Elect(lease);  // no pods are listed: nobody leads before
  const auto told = events.Take();
  REQUIRE(told.size() == 1);
  REQUIRE(std::holds_alternative<cluster::Leadership>(told[0]));
  CHECK_FALSE(std::get<cluster::Leadership>(told[0]).leading);
}

}  // namespace
}  // namespace tutti::kube
