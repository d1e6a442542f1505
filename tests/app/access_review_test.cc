// SPDX-License-Identifier: Apache-2.0
#include "app/access_review.h"

#include <httplib.h>

#include <thread>

#include "tests/support/catch.h"

namespace tutti::app {
namespace {

// An API server that gives one answer to everything.
class AnswersAll {
 public:
  explicit AnswersAll(std::string answer) {
    http_.Post(".*", [answer = std::move(answer)](const httplib::Request&, httplib::Response& response) {
      response.status = 201;
      response.set_content(answer, "application/json");
    });
    port_ = http_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { http_.listen_after_bind(); });
    while (!http_.is_running()) std::this_thread::yield();
  }
  ~AnswersAll() {
    http_.stop();
    thread_.join();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  httplib::Server http_;
  int port_ = 0;
  std::thread thread_;
};

class NoSink final : public cluster::EventSink {
  void Post(cluster::FeedEvent) override {}
};

TEST_CASE("an answer to a review may be nested as deeply as it likes") {
  constexpr size_t kDeep = 400'000;
  AnswersAll server(R"({"status":{"allowed":true},"more":)" + std::string(kDeep, '[') + std::string(kDeep, ']') + "}");
  kube::Config config;
  config.server = server.url();
  const base::SystemClock clock;
  NoSink sink;
  kube::KubeClient client(config, {}, clock, sink);
  ApiAccessReview review(client, client);
  const auto allowed = review.Authorize({}, "get", "/metrics");
  REQUIRE(allowed);
  CHECK(*allowed);
}

}  // namespace
}  // namespace tutti::app
