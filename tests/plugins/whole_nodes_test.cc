// SPDX-License-Identifier: Apache-2.0
#include "plugins/whole_nodes/whole_nodes.h"

#include "base/json_fwd.h"
#include "framework/ranking.h"
#include "plugins/registry.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::plugins {
namespace {

using json = base::Json;

json Gpus(int count) { return {{"cpu", "1"}, {"nvidia.com/gpu", std::to_string(count)}}; }

std::string BestFor(tests::TestCluster& cluster, const json& requests) {
  const framework::Profile profile = PackingProfile("s");
  const framework::Ranking ranking(profile, cluster.Class({{"requests", requests}}), cluster.snapshot());
  return ranking.Best() ? cluster.snapshot().node(ranking.Best()).name : "";
}

void AddNode(tests::TestCluster& cluster, const std::string& name, int gpus, int used) {
  cluster.AddNode({{"name", name}, {"allocatable", {{"nvidia.com/gpu", std::to_string(gpus)}}}});
  if (used > 0) cluster.AddPod({{"node", name}, {"requests", Gpus(used)}});
}

TEST_CASE("A pod that asks for GPUs goes to the node in use that it leaves least of, and to a whole one last") {
  tests::TestCluster cluster;
  AddNode(cluster, "whole", 8, 0);
  AddNode(cluster, "small-whole", 4, 0);
  AddNode(cluster, "half", 8, 4);
  AddNode(cluster, "tight", 8, 6);
  CHECK(BestFor(cluster, Gpus(2)) == "tight");
  CHECK(BestFor(cluster, Gpus(3)) == "half");
  CHECK(BestFor(cluster, Gpus(8)) == "whole");
  cluster.AddPod({{"node", "half"}, {"requests", Gpus(4)}});
  CHECK(BestFor(cluster, Gpus(3)) == "small-whole");
}

TEST_CASE("WholeNodes has no say about pods that ask for no extended resource") {
  tests::TestCluster cluster;
  AddNode(cluster, "whole", 8, 0);
  CHECK_FALSE(WholeNodes().PrepareScore(cluster.Class({{"requests", {{"cpu", "1"}}}}), cluster.snapshot()));
}

}  // namespace
}  // namespace tutti::plugins
