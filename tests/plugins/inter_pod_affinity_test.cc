// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "framework/ranking.h"
#include "plugins/registry.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::plugins {
namespace {

using json = base::Json;

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

// Keeps every pod of every namespace out of its domain under `key`.
json Alone(const std::string& key) {
  return {{"topologyKey", key}, {"labelSelector", json::object()}, {"namespaceSelector", json::object()}};
}

json WithAnti(json terms) { return {{"affinity", {{"podAntiAffinity", {{kRequired, std::move(terms)}}}}}}; }

TEST_CASE("Topology keys that no node has cost others nothing, until a node has one") {
  tests::TestCluster cluster;
  for (int i = 0; i < 500; ++i) cluster.AddNode({{"name", fmt::format("n{}", i)}});
  const auto mine = cluster.Class({{"namespace", "other"}});
  const framework::Profile profile = DefaultProfile("s");
  const size_t before = framework::Ranking(profile, mine, cluster.snapshot()).memory();

  for (int p = 0; p < 20; ++p) {
    json pod = WithAnti(json::array());
    for (int i = 0; i < 100; ++i)
      pod["affinity"]["podAntiAffinity"][kRequired].push_back(Alone(fmt::format("key-{}-{}", p, i)));
    pod["node"] = fmt::format("n{}", p);
    cluster.AddPod(pod);
  }
  framework::Ranking ranking(profile, mine, cluster.snapshot());
  CHECK(ranking.feasible_count() == 500);
  CHECK(ranking.memory() < before + 100'000);  // 2,000 keys; a number for each node would be 1 MB and more

  cluster.AddNode({{"name", "n7"}, {"labels", {{"key-7-50", "here"}}}});  // where such a pod runs already
  cluster.AddNode({{"name", "n90"}, {"labels", {{"key-7-50", "here"}}}});
  cluster.AddNode({{"name", "n91"}, {"labels", {{"key-7-50", "there"}}}});
  ranking.Refresh();
  CHECK(ranking.feasible_count() == 498);
  CHECK_FALSE(ranking.Feasible(cluster.snapshot().FindNode("n7")));
  CHECK_FALSE(ranking.Feasible(cluster.snapshot().FindNode("n90")));

  cluster.AddNode({{"name", "n7"}});
  ranking.Refresh();
  CHECK(ranking.feasible_count() == 500);
}

TEST_CASE("What classes that came and went meant to a class does not pile up") {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "n"}, {"labels", {{"host", "n"}}}});
  const framework::Profile profile = DefaultProfile("s");
  framework::Ranking ranking(profile, cluster.Class(WithAnti(json::array({Alone("host")}))), cluster.snapshot());
  const auto most_bytes_over = [&](int classes) {
    size_t most = 0;
    for (int i = 0; i < classes; ++i) {
      cluster.state().DropPod(cluster.AddPod({{"node", "n"}, {"priority", i}, {"requests", {{"cpu", "1m"}}}}));
      ranking.Refresh();
      most = std::max(most, ranking.memory());
    }
    return most;
  };
  const size_t before = most_bytes_over(5'000);
  CHECK(most_bytes_over(20'000) <= before);
  CHECK(ranking.feasible_count() == 1);
}

TEST_CASE("What is remembered of the terms of others is counted, and no more than one weight for a key") {
  constexpr int kTerms = 100, kPods = 50;
  json labels;
  for (int i = 0; i < kTerms; ++i) labels[fmt::format("key-{}", i)] = "v";
  const framework::Profile profile = DefaultProfile("s");
  // Of one beside `pods` that run, each of a class of its own and with a hundred terms under so many keys.
  const auto memory_beside = [&](int pods, int keys) {
    tests::TestCluster cluster;
    cluster.AddNode({{"name", "n"}, {"labels", labels}});
    for (int p = 0; p < pods; ++p) {
      json pod = {{"node", "n"}, {"priority", p}, {"namespace", "other"}};
      for (int i = 0; i < kTerms; ++i)
        pod["affinity"]["podAffinity"][kPreferred].push_back(
            {{"weight", 1 + i}, {"podAffinityTerm", Alone(fmt::format("key-{}", i % keys))}});
      cluster.AddPod(pod);
    }
    return framework::Ranking(profile, cluster.Class({{"priority", -1}}), cluster.snapshot()).memory();
  };
  constexpr size_t kWeight = 16;
  CHECK(memory_beside(kPods, kTerms) - memory_beside(1, kTerms) >= (kPods - 1) * kTerms * kWeight);
  CHECK(memory_beside(kPods, 1) - memory_beside(1, 1) < kPods * 10 * kWeight);
}

TEST_CASE("The labels of a namespace concern others once a pod is in it") {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "n"}, {"labels", {{"host", "n"}}}});
  cluster.AddNode({{"name", "m"}, {"labels", {{"host", "m"}}}});
  cluster::Snapshot& snapshot = cluster.snapshot();
  snapshot.namespaces().Put("default", {});
  json term = Alone("host");
  term["namespaceSelector"] = {{"matchLabels", {{"team", "a"}}}};
  const framework::Profile profile = DefaultProfile("s");
  framework::Ranking ranking(profile, cluster.Class(WithAnti(json::array({term}))), cluster.snapshot());

  const uint64_t before = snapshot.namespaces().version();
  CHECK_FALSE(snapshot.namespaces().Put("new", {{"team", "b"}}));
  CHECK_FALSE(snapshot.namespaces().Put("new", {{"team", "a"}}));
  CHECK_FALSE(snapshot.namespaces().Drop("none"));
  CHECK(snapshot.namespaces().version() == before);  // no ranking begins again

  cluster.AddPod({{"namespace", "new"}, {"node", "n"}});
  cluster.AddPod({{"namespace", "late"}, {"node", "m"}});  // seen before its namespace
  ranking.Refresh();
  CHECK(ranking.feasible_count() == 1);  // one that is not known has no labels
  CHECK(snapshot.namespaces().Put("late", {{"team", "a"}}));
  ranking.Refresh();
  CHECK(ranking.feasible_count() == 0);
  CHECK(snapshot.namespaces().Put("new", {{"team", "b"}}));
  CHECK_FALSE(snapshot.namespaces().Put("new", {{"team", "b"}}));
  ranking.Refresh();
  CHECK(ranking.feasible_count() == 1);
}

}  // namespace
}  // namespace tutti::plugins
