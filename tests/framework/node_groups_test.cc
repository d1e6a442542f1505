// SPDX-License-Identifier: Apache-2.0
#include "framework/node_groups.h"

#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace {

using namespace tutti;
using framework::NodeFacts;
using framework::NodeGroup;
using framework::NodeGroups;
using json = base::Json;
using model::NodeId;

struct Nodes {
  tests::TestCluster cluster;
  NodeId Put(int i, const json& labels, const char* cpu = "8") {
    json named = labels;
    named["host"] = std::to_string(i);
    return cluster.AddNode({{"name", fmt::format("n-{}", i)}, {"labels", named}, {"allocatable", {{"cpu", cpu}}}});
  }
  NodeFacts Reads(const std::vector<const char*>& keys) {
    NodeFacts facts;
    for (const char* key : keys) facts.labels.push_back(cluster.snapshot().symbols().Intern(key));
    facts.CommitCounts();
    return facts;
  }
};

TEST_CASE("nodes are of one group where what is read of them is the same") {
  Nodes nodes;
  const NodeId a = nodes.Put(0, {{"zone", "z"}}), b = nodes.Put(1, {{"zone", "z"}}), c = nodes.Put(2, {{"zone", "y"}}),
               d = nodes.Put(3, {{"zone", "z"}}, "9");
  NodeGroups by_zone(nodes.Reads({"zone"}), nodes.cluster.snapshot());
  CHECK(by_zone.Of(a) == by_zone.Of(b));
  CHECK(by_zone.Of(a) != by_zone.Of(c));
  CHECK(by_zone.Of(a) != by_zone.Of(d));
  CHECK(by_zone.kind(by_zone.Of(a)) == by_zone.kind(by_zone.Of(d)));
  CHECK(by_zone.nodes(by_zone.Of(a)) == 2);
  CHECK(by_zone.First(by_zone.Of(b)) == a);
  NodeGroups by_nothing(nodes.Reads({}), nodes.cluster.snapshot());
  CHECK(by_nothing.Of(a) == by_nothing.Of(c));
  CHECK(by_nothing.kinds() == 1);
}

TEST_CASE("a node that changes moves, and groups that are born or die are logged") {
  Nodes nodes;
  const NodeId a = nodes.Put(0, {{"zone", "z"}}), b = nodes.Put(1, {{"zone", "z"}});
  NodeGroups groups(nodes.Reads({"zone"}), nodes.cluster.snapshot());
  const NodeGroup old = groups.Of(a);
  uint64_t seen = groups.log_end();
  const auto changed = [&] {
    std::vector<NodeGroup> list;
    REQUIRE(groups.ReadLog(seen, &list));
    seen = groups.log_end();
    return list;
  };
  const model::PodId pod = nodes.cluster.AddPod({{"node", "n-0"}, {"requests", {{"cpu", "1"}}}});
  groups.Refresh();
  CHECK(groups.First(old) == b);
  CHECK(changed() == std::vector{groups.Of(a)});
  nodes.cluster.state().DropPod(pod);
  const NodeGroup fuller = groups.Of(a);
  groups.Refresh();
  CHECK(groups.Of(a) == old);
  CHECK(groups.First(old) == a);
  CHECK(!groups.First(fuller));
  CHECK(changed() == std::vector{fuller});
  nodes.Put(1, {{"zone", "y"}});
  groups.Refresh();
  CHECK(groups.nodes(old) == 1);
  CHECK(groups.kind(groups.Of(b)) != groups.kind(old));
  nodes.cluster.state().DropNode("n-0");
  groups.Refresh();
  CHECK(!groups.Of(a));
  CHECK(groups.nodes(old) == 0);
}

TEST_CASE("what pods that name no amount count for is read, too") {
  Nodes nodes;
  const NodeId a = nodes.Put(0, json::object()), b = nodes.Put(1, json::object()), c = nodes.Put(2, json::object());
  nodes.cluster.AddPod({{"node", "n-0"}, {"requests", {{"cpu", "1"}, {"memory", "0"}}}});
  nodes.cluster.AddPod({{"node", "n-1"}, {"requests", {{"cpu", "1"}}}});
  nodes.cluster.AddPod({{"node", "n-2"}, {"requests", {{"cpu", "1"}, {"memory", "0"}}}});
  const NodeGroups groups(nodes.Reads({}), nodes.cluster.snapshot());
  CHECK(groups.Of(a) == groups.Of(c));
  CHECK(groups.Of(a) != groups.Of(b));
}

TEST_CASE("groups do not pay where nearly every node is of a kind of its own") {
  Nodes nodes;
  for (int i = 0; i < 200; ++i) nodes.Put(i, json::object());
  CHECK(NodeGroups(nodes.Reads({"zone"}), nodes.cluster.snapshot()).Pays());
  CHECK(!NodeGroups(nodes.Reads({"host"}), nodes.cluster.snapshot()).Pays());
}

TEST_CASE("numbers begin at zero again when most groups are empty") {
  Nodes nodes;
  for (int i = 0; i < 20; ++i) nodes.Put(i, {{"pool", "0"}});
  NodeGroups groups(nodes.Reads({"pool"}), nodes.cluster.snapshot());
  const uint64_t era = groups.era();
  for (int round = 1; round < 200; ++round) {
    for (int i = 0; i < 20; ++i) nodes.Put(i, {{"pool", std::to_string(round)}});
    groups.Refresh();
    REQUIRE(groups.kinds() < 120);
  }
  CHECK(groups.era() > era);
  CHECK(groups.nodes(groups.Of(NodeId(0))) == 20);
}

}  // namespace
