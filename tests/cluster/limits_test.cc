// SPDX-License-Identifier: Apache-2.0
// Objects as large as the API server takes them.
#include <fmt/format.h>

#include <limits>

#include "base/json.h"
#include "cluster/json_decode.h"
#include "tests/support/catch.h"

namespace tutti::cluster {
namespace {

using Json = base::Json;

constexpr int kMany = 10'000;

Json PodOf(Json containers) {
  return {{"metadata", {{"name", "p"}, {"namespace", "ns"}, {"uid", "u"}}},
          {"spec", {{"containers", std::move(containers)}}}};
}

Json Containers(const Json& requests) {
  Json list = Json::array();
  for (int i = 0; i < kMany; ++i) list.push_back({{"name", "c"}, {"resources", {{"requests", requests}}}});
  return list;
}

TEST_CASE("the sum of ten thousand containers stops at the largest int64, and says so") {
  for (const char* amount : {"9223372036854775807", "8Ei", "1e18", "9E"}) {
    INFO("each asks for " << amount);
    const auto pod = DecodePod(PodOf(Containers({{"cpu", amount}, {"memory", amount}, {"example.com/x", amount}})));
    REQUIRE(pod);
    CHECK(pod->spec->saturated);
    for (const auto& [name, sum] : pod->spec->requests) CHECK(sum == std::numeric_limits<int64_t>::max());
  }
  const auto pod = DecodePod(PodOf(Containers({{"cpu", "1m"}, {"memory", "1Mi"}})));
  REQUIRE(pod);
  CHECK_FALSE(pod->spec->saturated);
  CHECK(pod->spec->requests.Get(model::kCpu) == kMany);
  CHECK(pod->spec->requests.Get(model::kMemory) == int64_t{kMany} << 20);
}

TEST_CASE("what one pod asks for beyond all measure is counted as the most that is") {
  const auto pod = DecodePod(PodOf(Json::array({{{"name", "c"}, {"resources", {{"requests", {{"memory", "5E"}}}}}}})));
  REQUIRE(pod);
  CHECK(pod->spec->saturated);
  CHECK(pod->spec->nonzero_memory == model::kLargestRequest);
}

TEST_CASE("ten thousand labels, resources and tolerations are read whole") {
  Json pod = PodOf({{{"name", "c"}}});
  Json& requests = pod["spec"]["containers"][0]["resources"]["requests"];
  for (int i = 0; i < kMany; ++i) {
    pod["metadata"]["labels"][fmt::format("label-{}", i)] = "v";
    requests[fmt::format("example.com/r{}", i)] = i;
    pod["spec"]["tolerations"].push_back({{"key", fmt::format("k{}", i)}, {"operator", "Exists"}});
  }
  const auto decoded = DecodePod(pod);
  REQUIRE(decoded);
  CHECK(decoded->meta.labels->size() == kMany);
  CHECK(decoded->spec->requests.items().size() == kMany);
  CHECK(decoded->spec->requests.Get("example.com/r9999") == 9'999);
  CHECK(decoded->spec->tolerations.size() == kMany);
}

TEST_CASE("of a field that holds a megabyte of nonsense, a reason shows the beginning") {
  Json pod = PodOf({{{"name", "c"}, {"resources", {{"requests", {{"cpu", std::string(1'000'000, 'x')}}}}}}});
  const auto decoded = DecodePod(pod);
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().message.size() < 1'000);
}

TEST_CASE("of a thousand fields that cannot be read the first are told, and how many more there are") {
  std::vector<std::string> problems;
  (void)DecodePodLeniently(PodOf(Json(1'000, {{"resources", {{"requests", {{"cpu", "x"}}}}}})), &problems);
  REQUIRE(problems.size() == 17);
  CHECK_THAT(problems[15], Catch::StartsWith("spec.containers[15].resources.requests.cpu: \"x\""));
  CHECK_THAT(problems[16], Catch::StartsWith("and ") && Catch::EndsWith(" more"));
}

}  // namespace
}  // namespace tutti::cluster
