// SPDX-License-Identifier: Apache-2.0
// Topology: all in one domain, slices, even parts; required and preferred; and what is said when it cannot be.
#include <map>

#include "tests/core/rig.h"

namespace tutti::core {
namespace {

using sim::Json;

// Nodes r<rack>-<i> with one cpu a member, racks of a block in order.
void AddRack(Rig& rig, const std::string& rack, int nodes, int cpu, const std::string& block = "b1") {
  for (int i = 0; i < nodes; ++i)
    rig.AddNode(fmt::format("{}-{}", rack, i), cpu, 0, {{"rack", rack}, {"block", block}});
}

void AddGang(Rig& rig, const std::string& gang, int members, const Json& annotations, const std::string& role = {}) {
  for (int i = 0; i < members; ++i)
    rig.AddPod(fmt::format("{}{}-{}", gang, role, i),
               {.gang = gang, .role = role, .min = std::to_string(members), .annotations = annotations});
}

// Members by rack: the node's name up to the dash.
std::map<std::string, int> ByRack(const Rig& rig, const std::string& prefix) {
  std::map<std::string, int> racks;
  for (const sim::Object& pod : rig.store.All(sim::kPods))
    if (const std::string node = sim::DigString(*pod, "spec", "nodeName");
        !node.empty() && sim::NameOf(*pod).starts_with(prefix))
      ++racks[node.substr(0, node.find('-'))];
  return racks;
}

using Racks = std::map<std::string, int>;

TEST_CASE("A gang that must be in one rack takes the tightest that holds it") {
  Rig rig;
  AddRack(rig, "r1", 2, 8);
  AddRack(rig, "r2", 2, 3);
  AddRack(rig, "r3", 2, 2);
  AddGang(rig, "g", 5, {{"tutti.dev/topology-required", "rack"}});
  rig.Settle();
  CHECK(ByRack(rig, "g") == Racks{{"r2", 5}});
}

TEST_CASE("A member more, whose gang's rack is full, has no place, though another rack has room") {
  Rig rig;
  AddRack(rig, "r1", 2, 3);
  AddGang(rig, "g", 6, {{"tutti.dev/topology-required", "rack"}});
  rig.Settle();
  REQUIRE(ByRack(rig, "g") == Racks{{"r1", 6}});
  AddRack(rig, "r2", 2, 3);
  rig.AddPod("g-9", {.gang = "g", .min = "6", .annotations = {{"tutti.dev/topology-required", "rack"}}});
  rig.Settle();
  CHECK(rig.Waits("g-9") ==
        "Unschedulable: gang default/g is whole; 1 more pod waits; 1 must be in one domain of rack: of 2, r1 comes "
        "nearest, with room for 0 of 1. Missing: 1 cpu. 0/4 nodes are available: 2 Insufficient cpu, 2 "
        "node(s) were outside of what the topology of the gang allows.");
}

TEST_CASE("A gang that no rack holds waits, names the best one, and starts when there is room") {
  Rig rig;
  AddRack(rig, "r1", 2, 3);
  AddRack(rig, "r2", 2, 2);
  AddGang(rig, "g", 7, {{"tutti.dev/topology-required", "rack"}});
  rig.Settle();
  CHECK(rig.Bound() == 0);
  CHECK(rig.Waits("g-0").starts_with(
      "Unschedulable: gang default/g waits: 6 of the 7 pods it needs fit now; 7 must be in "
      "one domain of rack: of 2, r1 comes "
      "nearest, with room for 6 of 7"));
  rig.AddNode("r2-2", 3, 0, {{"rack", "r2"}});
  rig.Settle();
  CHECK(ByRack(rig, "g") == Racks{{"r2", 7}});
}

TEST_CASE("Of domains that come as near the first by name is named, whichever was heard of first") {
  Rig rig;
  for (const char* rack : {"r2", "r1", "r3"}) AddRack(rig, rack, 2, 3);
  AddGang(rig, "g", 7, {{"tutti.dev/topology-required", "rack"}});
  rig.Settle();
  CHECK(rig.Waits("g-0").find("of 3, r1 comes nearest, with room for 6 of 7") != std::string::npos);
}

TEST_CASE("Of the domain that comes nearest it is said how many of those it has room for who must be in it") {
  Rig rig;
  for (const char* rack : {"r1", "r2"}) rig.AddNode(rack, 8, 1, {{"rack", rack}});
  rig.AddPod("head", {.gang = "g", .role = "head", .min = "3"});
  for (int i = 0; i < 2; ++i)
    rig.AddPod(fmt::format("worker-{}", i), {.gang = "g",
                                             .role = "worker",
                                             .min = "3",
                                             .gpu = 1,
                                             .annotations = {{"kueue.x-k8s.io/podset-required-topology", "rack"}}});
  rig.Settle();
  CHECK(rig.Bound() == 0);
  CHECK_THAT(rig.Waits("head"),
             Catch::Contains("2 must be in one domain of rack: of 2, r1 comes nearest, with room for 1 of 2"));
}

TEST_CASE("A level that no node has is named") {
  Rig rig;
  rig.AddNode("n1", 8);
  AddGang(rig, "g", 2, {{"tutti.dev/topology-required", "example.com/spine"}});
  rig.Settle();
  CHECK(rig.Waits("g-0").find("no node has the label example.com/spine") != std::string::npos);
}

TEST_CASE("A preferred level is given up for a wider one, and that for none") {
  Rig rig;
  AddRack(rig, "r1", 1, 3, "b1");
  AddRack(rig, "r2", 1, 3, "b1");
  AddRack(rig, "r3", 1, 4, "b2");
  const Json prefer = {{"tutti.dev/topology-preferred", "rack,block"}};
  AddGang(rig, "small", 4, prefer);
  rig.Settle();
  CHECK(ByRack(rig, "small") == Racks{{"r3", 4}});
  AddGang(rig, "wide", 5, prefer);
  rig.Settle();
  CHECK(ByRack(rig, "wide").size() == 2);
  rig.AddNode("x-0", 4);
  AddGang(rig, "scattered", 5, prefer);
  rig.Settle();
  CHECK(rig.Bound() == 14);
}

TEST_CASE("Slices are each in one rack, in as few racks as hold them") {
  Rig rig;
  AddRack(rig, "r1", 1, 5);
  AddRack(rig, "r2", 1, 7);
  AddRack(rig, "r3", 1, 9);
  const Json slices = {{"kueue.x-k8s.io/podset-slice-required-topology", "rack"},
                       {"kueue.x-k8s.io/podset-slice-size", "4"}};
  AddGang(rig, "g", 12, slices);
  rig.Settle();
  CHECK(ByRack(rig, "g") == Racks{{"r2", 4}, {"r3", 8}});
  AddGang(rig, "h", 8, slices);
  rig.Settle();
  CHECK(ByRack(rig, "h").empty());
  CHECK(rig.Waits("h-0").find(
            "slices of 4 must each be in one domain of rack: the 3 domains have room for 1 of 2 slices") !=
        std::string::npos);
}

TEST_CASE("What is left over of slices is one smaller slice, wherever there is room for it") {
  Rig rig;
  AddRack(rig, "r1", 1, 6);
  AddRack(rig, "r2", 1, 6);
  const int third = GENERATE(4, 3);
  AddRack(rig, "r3", 1, third);
  AddGang(rig, "g", 14,
          {{"kueue.x-k8s.io/podset-slice-required-topology", "rack"}, {"kueue.x-k8s.io/podset-slice-size", "4"}});
  rig.Settle();
  if (third == 4) {
    CHECK(rig.Bound() == 14);
    CHECK(ByRack(rig, "g")["r3"] == 4);
    return;
  }
  CHECK(rig.Bound() == 0);
  CHECK(rig.Waits("g-0").find("no proof") == std::string::npos);
}

TEST_CASE("Even parts differ by one at most and take no more racks than needed") {
  Rig rig;
  for (const char* rack : {"r1", "r2", "r3", "r4"}) AddRack(rig, rack, 1, 4);
  AddGang(rig, "g", 7, {{"tutti.dev/topology-balanced", "rack"}});
  rig.Settle();
  const Racks racks = ByRack(rig, "g");
  REQUIRE(racks.size() == 2);
  CHECK(std::abs(racks.begin()->second - racks.rbegin()->second) == 1);
}

TEST_CASE("Even parts are found over any number of racks, however many there are") {
  Rig rig;
  for (int rack = 0; rack < 100; ++rack)
    rig.AddNode(fmt::format("r{}", rack), rack < 80 ? 63 : 1, 0, {{"rack", fmt::format("r{}", rack)}});
  AddGang(rig, "g", 5000, {{"tutti.dev/topology-balanced", "rack"}});
  rig.Settle();
  CHECK(rig.Bound() == 5000);
  CHECK(ByRack(rig, "g").size() == 80);
}

TEST_CASE("Each role may have a rack of its own, within one block for all") {
  Rig rig;
  AddRack(rig, "r1", 1, 4, "b1");
  AddRack(rig, "r2", 1, 4, "b2");
  AddRack(rig, "r3", 1, 4, "b2");
  const Json rack = {{"kueue.x-k8s.io/podset-required-topology", "rack"}};
  AddGang(rig, "g", 4, rack, "a");
  AddGang(rig, "g", 4, rack, "b");
  rig.Settle();
  CHECK(ByRack(rig, "ga").size() == 1);
  CHECK(ByRack(rig, "gb").size() == 1);
}

TEST_CASE("A gang of many kinds goes into the rack that has room for all of it") {
  Rig rig;
  AddRack(rig, "r1", 1, 1);
  AddRack(rig, "r2", 2, 30);
  for (int i = 0; i < 30; ++i)
    rig.AddPod(fmt::format("g-{}", i), {.gang = "g",
                                        .min = "30",
                                        .cpu = fmt::format("{}m", 1000 + i),
                                        .annotations = {{"tutti.dev/topology-required", "rack"}}});
  rig.Settle();
  CHECK(ByRack(rig, "g") == Racks{{"r2", 30}});
}

TEST_CASE("A gang of many kinds, half of which its role needs, is refused without a look at every half") {
  Rig rig;
  AddRack(rig, "r1", 1, 1);
  AddRack(rig, "r2", 1, 30);
  for (int i = 0; i < 40; ++i)
    rig.AddPod(fmt::format("g-{}", i),
               {.gang = "g",
                .min = "40",
                .cpu = fmt::format("{}m", 1000 + i),
                .annotations = {{"role", "w"}, {"role-min", "20"}, {"tutti.dev/topology-required", "rack"}}});
  rig.Settle();
  CHECK(rig.Bound() == 0);
}

TEST_CASE("A member that comes back goes where the others are") {
  Rig rig;
  AddRack(rig, "r1", 1, 4);
  AddRack(rig, "r2", 1, 8);
  const Json required = {{"kai.scheduler/topology-required-placement", "rack"}};
  AddGang(rig, "g", 4, required);
  rig.Settle();
  REQUIRE(ByRack(rig, "g") == Racks{{"r1", 4}});
  rig.Delete("g-0");
  rig.Settle();
  AddGang(rig, "other", 1, {});
  rig.AddPod("g-9", {.gang = "g", .min = "4", .annotations = required});
  rig.Settle();
  CHECK(ByRack(rig, "g-9").contains("r2") == false);
}

TEST_CASE("Members that a changed label tore apart are named to those that would join them") {
  Rig rig;
  AddRack(rig, "r1", 2, 3);
  const Json required = {{"kai.scheduler/topology-required-placement", "rack"}};
  AddGang(rig, "g", 4, required);
  rig.Settle();
  REQUIRE(ByRack(rig, "g") == Racks{{"r1", 4}});
  REQUIRE(rig.NodeOf("g-0") != rig.NodeOf("g-3"));
  REQUIRE(rig.store.Modify(sim::kNodes, "", "r1-0", [](Json& node) { node["metadata"]["labels"]["rack"] = "r0"; }));
  rig.AddPod("g-9", {.gang = "g", .min = "4", .annotations = required});
  rig.Settle();
  CHECK(rig.NodeOf("g-9").empty());
  CHECK(rig.Waits("g-9") ==
        "Unschedulable: gang default/g is whole; 1 more pod waits; 1 must be in one domain of rack, but other members "
        "are in 2 of them: r0, r1. 0/2 nodes are available: 2 node(s) were outside of what the topology of the "
        "gang allows.");
}

TEST_CASE("An annotation that cannot be read is named, and the gang waits") {
  Rig rig;
  AddRack(rig, "r1", 1, 4);
  AddGang(rig, "g", 2,
          {{"kueue.x-k8s.io/podset-slice-required-topology", "rack"}, {"kueue.x-k8s.io/podset-slice-size", "few"}});
  rig.Settle();
  CHECK(rig.Waits("g-0") ==
        "Unschedulable: annotation kueue.x-k8s.io/podset-slice-size: few is no size; write a whole number from 1");
}

}  // namespace
}  // namespace tutti::core
