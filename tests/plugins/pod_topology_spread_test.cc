// SPDX-License-Identifier: Apache-2.0
#include "base/json_fwd.h"
#include "plugins/pod_topology_spread/constraints.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::plugins {
namespace {

using json = base::Json;

TEST_CASE("A node that changes in what no constraint reads changes no counts") {
  tests::TestCluster cluster;
  const auto put = [&](const char* zone, const char* cpu, const json& taints) {
    cluster.AddNode({{"name", "n"},
                     {"labels", {{"zone", zone}, {"host", "n"}}},
                     {"allocatable", {{"cpu", cpu}}},
                     {"taints", taints}});
  };
  put("z1", "4", json::array());
  json by_zone = {{"maxSkew", 1}, {"topologyKey", "zone"}, {"whenUnsatisfiable", "DoNotSchedule"}};
  json by_host = by_zone;
  by_host["topologyKey"] = "host";
  by_host["nodeTaintsPolicy"] = "Honor";
  const cluster::PodClass& pods = cluster.Class({{"topologySpreadConstraints", {by_zone, by_host}}});
  Constraints constraints(Constraints::Kind::kHard, Constraints::Nodes::kWithAllKeys, pods.spec->spread, pods,
                          cluster.snapshot());
  std::string changed;  // by the names of the keys
  const auto name = [&](const Constraint& c) { changed += cluster.snapshot().symbols().Text(c.key) + " "; };
  const auto changes = [&] {
    changed.clear();
    constraints.NodeChanged(cluster.Node("n"), [](const Constraint&) {}, name);
    return changed;
  };
  put("z1", "8", json::array());
  CHECK(changes() == "");
  put("z2", "8", json::array());
  CHECK(changes() == "zone ");
  put("z2", "8", {{{"key", "t"}, {"effect", "NoSchedule"}}});
  CHECK(changes() == "host ");
}

TEST_CASE("A selector looks at the classes that it may select, however many others there are") {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "n"}, {"labels", {{"host", "n"}}}, {"allocatable", {{"pods", "2000"}}}});
  const auto labels = [](int i) { return json{{"app", "ray"}, {"cluster", std::to_string(i)}}; };
  const auto selector = [&](const json& wanted) {
    return json{{"maxSkew", 1},
                {"topologyKey", "host"},
                {"whenUnsatisfiable", "DoNotSchedule"},
                {"labelSelector", {{"matchLabels", wanted}}}};
  };
  const cluster::PodClass& one = cluster.Class({{"topologySpreadConstraints", {selector(labels(7))}}});
  for (int i = 0; i < 1'000; ++i) cluster.AddPod({{"labels", labels(i)}, {"node", "n"}});
  const auto looked_at = [&](const model::TopologySpread& spread) {
    size_t classes = 0;
    PodSelector(spread.selector, cluster.snapshot().symbols())
        .ForEachCandidate(cluster.snapshot(), one.ns, [&](const cluster::Occupants&) { ++classes; });
    return classes;
  };
  CHECK(looked_at(one.spec->spread[0]) == 1);  // by the label that the fewest have
  Constraints constraints(Constraints::Kind::kHard, Constraints::Nodes::kWithAllKeys, one.spec->spread, one,
                          cluster.snapshot());
  CHECK(constraints.list()[0].counts.OnNode(cluster.Node("n")) == 1);
}

}  // namespace
}  // namespace tutti::plugins
