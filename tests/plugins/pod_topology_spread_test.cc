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

}  // namespace
}  // namespace tutti::plugins
