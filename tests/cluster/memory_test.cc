// SPDX-License-Identifier: Apache-2.0
// What is left of pods that came and went, however large they were and however many.
#include <fmt/format.h>

#include <algorithm>

#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::cluster {
namespace {

using Json = base::Json;

// A term against all pods in ten thousand namespaces that no other pod names: some 500 KB. The log of pods shows it to
// others.
Json Apart(int of) {
  Json namespaces = Json::array();
  for (int i = 0; i < 10'000; ++i) namespaces.push_back(fmt::format("team-{}-{}", of, i));
  return {{"topologyKey", "zone"}, {"labelSelector", Json::object()}, {"namespaces", std::move(namespaces)}};
}

TEST_CASE("The log of pods keeps few of those that went alive, where they are large") {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "n"}});
  using Log = PodLog::Of;
  std::vector<std::weak_ptr<const PodClass>> classes;
  const uint64_t start = cluster.snapshot().pod_log().end(Log::kAffine);
  for (int i = 0; i < 200; ++i) {
    const Json affinity = {{"podAntiAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", {Apart(i)}}}}};
    const model::PodId pod = cluster.AddPod({{"node", "n"}, {"affinity", affinity}});
    classes.push_back(cluster.state().pod(pod).pod_class);
    cluster.state().DropPod(pod);
  }
  const auto alive = std::ranges::count_if(classes, [](const auto& one) { return !one.expired(); });
  CHECK(alive > 0);
  CHECK(alive < 60);
  std::vector<PodChange> changes;
  CHECK_FALSE(cluster.snapshot().pod_log().Read(Log::kAffine, start, &changes));
  CHECK(changes.empty());
  CHECK(cluster.snapshot().pod_log().Read(Log::kAffine, cluster.snapshot().pod_log().end(Log::kAffine), &changes));
}

TEST_CASE("Names of resources go with the last pod that asked for them") {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "n"}, {"allocatable", {{"example.com/real", "8"}}}});
  Snapshot& nodes = cluster.snapshot();
  const Json kept = {{"node", "n"}, {"requests", {{"example.com/real", "1"}, {"example.com/kept", "2"}}}};
  const PodClass& stays = cluster.Class(kept);
  const model::ResourceId of_profile = nodes.resources().Column("example.com/scored");
  const auto many = [&](int of, int names) {
    Json requests;
    for (int r = 0; r < names; ++r) requests[fmt::format("example.com/made-up-{}-{:04}", of, r)] = "1";
    cluster.state().DropPod(cluster.AddPod({{"node", "n"}, {"requests", requests}}));
  };
  const size_t before = nodes.resources().size();
  many(0, 10'000);  // of so many none is made
  CHECK(nodes.resources().size() == before);
  for (int i = 0; i < 1'000; ++i) many(i, 200);
  CHECK(nodes.resources().size() < 150'000);
  for (const auto& [column, amount] : stays.requests)
    CHECK(nodes.resources().Text(column) == (amount == 1 ? "example.com/real" : "example.com/kept"));
  CHECK(nodes.resources().Column("example.com/scored") == of_profile);

  // A name that comes in the place of another has nothing of it.
  const PodClass& late = cluster.Class({{"node", "n"}, {"requests", {{"example.com/late", "3"}}}});
  const model::ResourceId column = late.requests[0].first;
  CHECK(nodes.resources().Text(column) == "example.com/late");
  CHECK_FALSE(nodes.Exists(column));
  cluster.AddNode({{"name", "other"}, {"allocatable", {{"example.com/late", "5"}, {"example.com/kept", "5"}}}});
  CHECK(nodes.Free(cluster.Node("n"), column) == -3);
  CHECK(nodes.Free(cluster.Node("n"), nodes.resources().Column("example.com/kept")) == -2);
  cluster.state().Audit();
}

TEST_CASE("Of a pod that makes up names, what nodes have counts, whichever comes first") {
  Json requests = {{"example.com/gpu", "6"}};
  for (int r = 0; r < 400; ++r) requests[fmt::format("example.com/made-up-{}", r)] = "1";
  const Json node = {{"name", "n"}, {"allocatable", {{"example.com/gpu", "8"}}}};
  const Json pod = {{"node", "n"}, {"requests", requests}};
  for (const bool node_first : {true, false}) {
    tests::TestCluster cluster;
    cluster.AddNode({{"name", "other"}});
    if (node_first) cluster.AddNode(node);
    const model::PodId id = cluster.AddPod(pod);
    if (!node_first) cluster.AddNode(node);
    const Snapshot& nodes = cluster.snapshot();
    CHECK(nodes.resources().size() < 10);
    CHECK(nodes.Free(cluster.Node("n"), nodes.resources().Column("example.com/gpu")) == 2);
    cluster.state().Audit();
    cluster.state().DropPod(id);
    CHECK(nodes.Free(cluster.Node("n"), nodes.resources().Column("example.com/gpu")) == 8);
  }
}

}  // namespace
}  // namespace tutti::cluster
