// SPDX-License-Identifier: Apache-2.0
#include "app/access_review.h"

#include "tests/support/catch.h"
#include "tests/support/http_rig.h"

namespace tutti::app {
namespace {

class NoSink final : public cluster::EventSink {
  void Post(cluster::FeedEvent) override {}
};

TEST_CASE("an answer to a review may be nested as deeply as it likes") {
  constexpr size_t kDeep = 400'000;
  const std::string answer =
      R"({"status":{"allowed":true},"more":)" + std::string(kDeep, '[') + std::string(kDeep, ']') + "}";
  const tests::HttpRig server([&answer](httplib::Server& http) {
    http.Post(".*", [&answer](const httplib::Request&, httplib::Response& response) {
      response.status = 201;
      response.set_content(answer, "application/json");
    });
  });
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
