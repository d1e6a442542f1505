// SPDX-License-Identifier: Apache-2.0
#include "app/access_review.h"

#include <memory>

#include "base/json.h"
#include "tests/support/catch.h"
#include "tests/support/http_rig.h"

namespace tutti::app {
namespace {

class NoSink final : public cluster::EventSink {
  void Post(cluster::FeedEvent) override {}
};

// A client of an API server that answers what `route` sets up.
struct Api {
  explicit Api(const std::function<void(httplib::Server& http)>& route) : server(route) {
    kube::Config config;
    config.server = server.url();
    client = std::make_unique<kube::KubeClient>(config, kube::KubeClient::Options{}, clock, sink);
  }
  const tests::HttpRig server;
  const base::SystemClock clock;
  NoSink sink;
  std::unique_ptr<kube::KubeClient> client;
};

TEST_CASE("a review of what is done to objects names all that is known of them") {
  std::vector<std::string> asked;
  Api api([&asked](httplib::Server& http) {
    http.Post("/apis/authorization.k8s.io/v1/subjectaccessreviews",
              [&asked](const httplib::Request& request, httplib::Response& response) {
                asked.push_back(base::Json::parse(request.body).at("spec").dump());
                response.status = 201;
                response.set_content(R"({"status":{"allowed":true}})", "application/json");
              });
  });
  ApiAccessReview review(*api.client, *api.client);
  CHECK(*review.AuthorizeResource({"dev", "", {"a"}, {}}, {"get", "g", "v1", "rs", "sub", "ns", "x"}));
  CHECK(*review.AuthorizeResource({"dev", "", {}, {}}, {"list", "", "v1", "pods", "", "", ""}));
  CHECK(asked == std::vector<std::string>{
                     R"({"groups":["a"],"resourceAttributes":{"group":"g","name":"x","namespace":"ns","resource":"rs",)"
                     R"("subresource":"sub","verb":"get","version":"v1"},"user":"dev"})",
                     R"({"groups":[],"resourceAttributes":{"resource":"pods","verb":"list","version":"v1"},)"
                     R"("user":"dev"})"});
}

TEST_CASE("a front proxy is known from the cluster's ConfigMap, and none if its names cannot be read") {
  std::string names = R"([\"front-proxy\"])";
  Api api([&names](httplib::Server& http) {
    http.Get("/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",
             [&names](const httplib::Request&, httplib::Response& response) {
               response.set_content(
                   R"({"data":{"client-ca-file":"A","requestheader-client-ca-file":"B",)"
                   R"("requestheader-allowed-names":")" +
                       names + R"(","requestheader-username-headers":"[\"X-Remote-User\"]",)" +
                       R"("requestheader-group-headers":"[\"X-Remote-Group\",\"X-Group\"]"}})",
                   "application/json");
             });
  });
  auto trust = ClusterTrust(*api.client);
  REQUIRE(trust);
  CHECK(trust->client_ca == "A");
  CHECK(trust->proxy->ca == "B");
  CHECK(trust->proxy->names == std::vector<std::string>{"front-proxy"});
  CHECK(trust->proxy->user_headers == std::vector<std::string>{"X-Remote-User"});
  CHECK(trust->proxy->group_headers == std::vector<std::string>{"X-Remote-Group", "X-Group"});
  CHECK(trust->proxy->extra_prefixes.empty());
  names = "front-proxy";
  trust = ClusterTrust(*api.client);
  REQUIRE(trust);
  CHECK(trust->client_ca == "A");
  CHECK(trust->proxy->ca.empty());
}

TEST_CASE("an answer to a review may be nested as deeply as it likes") {
  constexpr size_t kDeep = 400'000;
  const std::string answer =
      R"({"status":{"allowed":true},"more":)" + std::string(kDeep, '[') + std::string(kDeep, ']') + "}";
  Api api([&answer](httplib::Server& http) {
    http.Post(".*", [&answer](const httplib::Request&, httplib::Response& response) {
      response.status = 201;
      response.set_content(answer, "application/json");
    });
  });
  ApiAccessReview review(*api.client, *api.client);
  const auto allowed = review.Authorize({}, "get", "/metrics");
  REQUIRE(allowed);
  CHECK(*allowed);
}

}  // namespace
}  // namespace tutti::app
