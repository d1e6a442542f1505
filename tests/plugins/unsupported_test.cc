// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/json_fwd.h"
#include "framework/ranking.h"
#include "plugins/common/size_limits.h"
#include "plugins/registry.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::plugins {
namespace {

using json = base::Json;

json Times(size_t n, const json& one) { return json::array_t(n, one); }

// What is said to a pod like this on a cluster of one node; empty when the node would do.
std::string Said(const json& pod) {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "n"}, {"labels", {{"host", "n"}}}, {"allocatable", {{"example.com/x", "9"}}}});
  const framework::Profile profile = DefaultProfile("s");
  const framework::Ranking ranking(profile, cluster.Class(pod), cluster.snapshot());
  return ranking.Best() ? "" : ranking.Explain().Sentence();
}

std::string TooMany(const std::string& part) {
  return fmt::format(
      "0/1 nodes are available: the pod's {} have more than {} things to look at on each node, and no more are looked "
      "at.",
      part, kMostThings);
}

TEST_CASE("Each part of a spec is looked at to its limit, and no further") {
  const json here = {{"matchExpressions", {{{"key", "host"}, {"operator", "In"}, {"values", {"n"}}}}}};
  const auto required = [&](size_t n) {
    const json terms = {{"nodeSelectorTerms", Times(n, here)}};
    return json{{"affinity", {{"nodeAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", terms}}}}}};
  };
  CHECK(Said(required(kMostThings / 2)) == "");
  CHECK(Said(required(kMostThings / 2 + 1)) == TooMany("nodeSelector and nodeAffinity"));

  const json apart = {{"topologyKey", "host"}, {"labelSelector", {{"matchLabels", {{"a", "b"}}}}}};
  const auto anti = [&](size_t n) {
    return json{
        {"affinity", {{"podAntiAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", Times(n, apart)}}}}}};
  };
  CHECK(Said(anti(kMostThings / 2)) == "");
  CHECK(Said(anti(5'000)) == TooMany("podAntiAffinity"));

  CHECK(Said({{"tolerations", Times(kMostThings, {{"operator", "Exists"}})}}) == "");
  CHECK(Said({{"tolerations", Times(kMostThings + 1, {{"operator", "Exists"}})}}) == TooMany("tolerations"));

  const auto spread = [&](size_t hard, size_t soft) {
    json constraint = {{"maxSkew", 1}, {"topologyKey", "host"}, {"whenUnsatisfiable", "DoNotSchedule"}};
    json all = Times(hard, constraint);
    constraint["whenUnsatisfiable"] = "ScheduleAnyway";
    for (const json& one : Times(soft, constraint)) all.push_back(one);
    return json{{"topologySpreadConstraints", all}};
  };
  const auto too_many_spread = [](const std::string& when) {
    return fmt::format(
        "0/1 nodes are available: the pod has more than 64 topologySpreadConstraints with {}, and no more are looked "
        "at.",
        when);
  };
  CHECK(Said(spread(64, 64)) == "");
  CHECK(Said(spread(65, 0)) == too_many_spread("DoNotSchedule"));
  CHECK(Said(spread(0, 65)) == too_many_spread("ScheduleAnyway"));

  json requests;
  for (size_t i = 0; i <= kMostThings; ++i) requests[fmt::format("example.com/r{}", i)] = "1";
  CHECK(Said({{"requests", requests}}) == TooMany("resources"));
}

TEST_CASE("Values that are looked up count little: a list of a cluster's nodes is looked at") {
  json names = json::array();
  for (int i = 0; i < 10'000; ++i) names.push_back(fmt::format("node-{}", i));
  names.push_back("n");
  const json here = {{"matchExpressions", {{{"key", "host"}, {"operator", "In"}, {"values", names}}}}};
  const json terms = {{"nodeSelectorTerms", {here}}};
  CHECK(Said({{"affinity", {{"nodeAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", terms}}}}}}) == "");
}

TEST_CASE("A pod that waits for the labels of namespaces is looked at once they are known") {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "n"}, {"labels", {{"host", "n"}}}});
  const json term = {{"topologyKey", "host"},
                     {"labelSelector", {{"matchLabels", {{"role", "web"}}}}},
                     {"namespaceSelector", {{"matchLabels", {{"team", "b"}}}}}};
  const framework::Profile profile = DefaultProfile("s");
  const cluster::PodClass& pods = cluster.Class(
      {{"affinity", {{"podAntiAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", {term}}}}}}});
  framework::Ranking ranking(profile, pods, cluster.snapshot());
  REQUIRE_FALSE(ranking.Best());
  REQUIRE_THAT(ranking.Explain().Sentence(), Catch::Contains("asks for a namespaceSelector"));
  cluster.snapshot().namespaces().Put("default", {{"team", "a"}});
  ranking.Refresh();
  CHECK(ranking.Best() == cluster.Node("n"));
}

TEST_CASE("Resources that no node has take no room") {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "n"}, {"allocatable", {{"example.com/x", "9"}}}});
  const cluster::PodClass& pods = cluster.Class({{"requests", {{"example.com/x", "1"}, {"example.com/y", "1"}}}});
  cluster::Snapshot& nodes = cluster.snapshot();
  CHECK(nodes.Exists(nodes.resources().Column("example.com/x")));
  CHECK_FALSE(nodes.Exists(nodes.resources().Column("example.com/y")));
  CHECK(nodes.Free(cluster.Node("n"), nodes.resources().Column("example.com/y")) == 0);
  nodes.Place(pods, cluster.Node("n"));  // as one that another scheduler bound
  CHECK(nodes.requested(nodes.resources().Column("example.com/y"))[0] == 0);
  CHECK(nodes.Free(cluster.Node("n"), nodes.resources().Column("example.com/x")) == 8);

  cluster.AddNode({{"name", "other"}, {"allocatable", {{"example.com/y", "5"}}}});
  CHECK(nodes.Free(cluster.Node("n"), nodes.resources().Column("example.com/y")) ==
        -1);  // it is counted once any node has some
  nodes.Remove(pods, cluster.Node("n"));
  CHECK(nodes.Free(cluster.Node("n"), nodes.resources().Column("example.com/y")) == 0);
}

TEST_CASE("Ports are taken and freed whatever their number and order") {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "n"}});
  const auto with = [](const std::vector<int>& ports) {
    json list = json::array();
    for (const int port : ports) list.push_back({{"containerPort", 1}, {"hostPort", port}});
    return json{{"containers", {{{"name", "c"}, {"ports", list}}}}};
  };
  const cluster::PodClass &some = cluster.Class(with({9, 3, 5})), &more = cluster.Class(with({4, 9, 1}));
  const framework::Profile profile = DefaultProfile("s");
  const auto fits = [&](int port) {
    return framework::Ranking(profile, cluster.Class(with({port, 100})), cluster.snapshot()).Best().valid();
  };
  cluster::Snapshot& nodes = cluster.snapshot();
  nodes.Place(some, cluster.Node("n"));
  nodes.Place(more, cluster.Node("n"));  // bound by two schedulers, port 9 twice
  for (const int port : {1, 3, 4, 5, 9}) CHECK_FALSE(fits(port));
  for (const int port : {2, 6, 10}) CHECK(fits(port));
  nodes.Remove(some, cluster.Node("n"));
  for (const int port : {1, 4, 9}) CHECK_FALSE(fits(port));
  for (const int port : {3, 5}) CHECK(fits(port));
  nodes.Remove(more, cluster.Node("n"));
  CHECK(fits(9));
}

TEST_CASE("Of the volumes of a pod that runs, no more is looked at either") {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "n"}});
  const json driver = {{"name", "pd.csi.storage.gke.io"}, {"allocatable", {{"count", 2}}}};
  cluster.AddStorage({{"kind", "CSINode"}, {"metadata", {{"name", "n"}}}, {"spec", {{"drivers", {driver}}}}});
  const framework::Profile profile = DefaultProfile("s");
  const auto disk = [](const char* name) { return json{{"name", name}, {"gcePersistentDisk", {{"pdName", name}}}}; };
  const auto fits_beside = [&](size_t volumes, const char* mine) {
    json list = Times(volumes - 1, disk("one"));
    list.push_back(disk("two"));
    const model::PodId pod = cluster.AddPod({{"node", "n"}, {"volumes", list}});
    const cluster::PodClass& waits = cluster.Class({{"volumes", {disk(mine)}}});
    const bool fits = framework::Ranking(profile, waits, cluster.snapshot()).Best().valid();
    cluster.state().DropPod(pod);
    return fits;
  };
  for (const char* mine : {"two", "three"}) {  // in use there; one more than the driver takes
    CHECK_FALSE(fits_beside(kMostThings, mine));
    CHECK(fits_beside(kMostThings + 1, mine));
  }
}

TEST_CASE("The monitors of an RBD image are things to look at") {
  const auto with = [](size_t monitors) {
    return json{{"volumes", {{{"name", "v"}, {"rbd", {{"image", "i"}, {"monitors", Times(monitors, "m")}}}}}}};
  };
  CHECK(Said(with(kMostThings - 1)) == "");
  CHECK(Said(with(kMostThings)) == TooMany("volumes"));
}

TEST_CASE("Of a pod that runs, no more is looked at either") {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "n"}, {"labels", {{"host", "n"}}}});
  const framework::Profile profile = DefaultProfile("s");
  const auto fits_beside = [&](size_t terms) {
    const json apart = {{"topologyKey", "host"}, {"labelSelector", json::object()}};
    const model::PodId pod = cluster.AddPod(
        {{"node", "n"},
         {"affinity",
          {{"podAntiAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", Times(terms, apart)}}}}}});
    const bool fits = framework::Ranking(profile, cluster.Class({{"priority", 1}}), cluster.snapshot()).Best().valid();
    cluster.state().DropPod(pod);
    return fits;
  };
  CHECK_FALSE(fits_beside(1));
  CHECK_FALSE(fits_beside(kMostThings));
  CHECK(fits_beside(kMostThings + 1));
}

}  // namespace
}  // namespace tutti::plugins
