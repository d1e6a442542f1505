// SPDX-License-Identifier: Apache-2.0
#include "core/place/rankings.h"

#include "plugins/registry.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::core {
namespace {

using json = base::Json;

TEST_CASE("A ranking that has grown makes those leave that were not used for longest") {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "n"}, {"labels", {{"host", "n"}}}});
  const auto share = [&](const json& brief) { return cluster.Class(brief).shared_from_this(); };
  const json alone = {{"topologyKey", "host"}, {"labelSelector", json::object()}};
  const auto growing =
      share({{"affinity", {{"podAntiAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", {alone}}}}}}});
  const auto other = share({{"priority", 1}}), last = share({{"priority", 2}});

  const std::vector<framework::Profile> profiles = {plugins::DefaultProfile("default-scheduler")};
  constexpr size_t kBudget = 100'000;
  Rankings rankings(profiles, cluster.snapshot(), kBudget);
  for (const auto& one : {other, last, growing}) rankings.For(one);
  REQUIRE(rankings.count() == 3);
  for (int i = 0; i < 3'000; ++i) {
    cluster.state().DropPod(cluster.AddPod({{"node", "n"}, {"priority", i}, {"requests", {{"cpu", "1m"}}}}));
    rankings.For(growing);
    if (i == 1'000) rankings.For(last);
  }
  CHECK(rankings.bytes() > kBudget);  // of the one in use alone
  CHECK(rankings.count() == 1);
  for (int i = 0; i < 64; ++i) rankings.For(growing);  // it is measured now and then
  CHECK(rankings.For(growing).memory() + growing->bytes == rankings.bytes());
}

TEST_CASE("Where rankings would outgrow their memory, they are kept by groups of nodes, and all stay") {
  tests::TestCluster cluster;
  for (int i = 0; i < 2'000; ++i)
    cluster.AddNode({{"name", fmt::format("n-{}", i)}, {"labels", {{"zone", fmt::format("z{}", i % 3)}}}});
  const std::vector<framework::Profile> profiles = {plugins::DefaultProfile("default-scheduler")};
  Rankings rankings(profiles, cluster.snapshot(), 1'500'000);
  std::vector<std::shared_ptr<const cluster::PodClass>> classes;
  for (int i = 0; i < 200; ++i)
    classes.push_back(cluster
                          .Class({{"priority", i},
                                  {"requests", {{"cpu", "1"}}},
                                  {"nodeSelector", {{"zone", fmt::format("z{}", i % 3)}}}})
                          .shared_from_this());
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < classes.size(); ++i) {
      CHECK(rankings.For(classes[i]).Best() == model::NodeId(static_cast<uint32_t>(i % 3)));
      CHECK(rankings.bytes() <= 1'500'000);
    }
  CHECK(rankings.count() == classes.size());
}

TEST_CASE("A few answers about single nodes make no ranking, many make one, and all agree") {
  tests::TestCluster cluster;
  const model::NodeId small = cluster.AddNode({{"name", "small"}, {"allocatable", {{"cpu", "1"}}}});
  const model::NodeId large = cluster.AddNode({{"name", "large"}, {"allocatable", {{"cpu", "8"}}}});
  const std::vector<framework::Profile> profiles = {plugins::DefaultProfile("default-scheduler")};
  Rankings rankings(profiles, cluster.snapshot(), 1'000'000);
  const auto share = [&](const json& brief) { return cluster.Class(brief).shared_from_this(); };
  for (int i = 0; i < 100; ++i) {
    const auto each = share({{"priority", i}, {"requests", {{"cpu", "2"}}}});
    CHECK(rankings.FitsOn(each, large));
    CHECK_FALSE(rankings.FitsOn(each, small));
  }
  CHECK(rankings.count() == 0);
  const auto one = share({{"requests", {{"cpu", "2"}}}});
  for (int i = 0; i < 100; ++i) {
    CHECK(rankings.FitsOn(one, large));
    CHECK_FALSE(rankings.FitsOn(one, small));
  }
  CHECK(rankings.count() == 1);
}

}  // namespace
}  // namespace tutti::core
