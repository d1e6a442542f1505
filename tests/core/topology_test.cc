// SPDX-License-Identifier: Apache-2.0
// Topology where there are many domains, or many kinds of members; tests/scenarios/topology has the rest.
#include <map>

#include "tests/core/rig.h"

namespace tutti::core {
namespace {

using sim::Json;

// Nodes RACK-0, RACK-1, ...
void AddRack(Rig& rig, const std::string& rack, int nodes, int cpu) {
  for (int i = 0; i < nodes; ++i) rig.AddNode(fmt::format("{}-{}", rack, i), cpu, 0, {{"rack", rack}});
}

void AddGang(Rig& rig, const std::string& gang, int members, const Json& annotations) {
  for (int i = 0; i < members; ++i)
    rig.AddPod(fmt::format("{}-{}", gang, i),
               {.gang = gang, .min = std::to_string(members), .annotations = annotations});
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

TEST_CASE("Even parts are found over any number of racks, however many there are") {
  Rig rig;
  for (int rack = 0; rack < 100; ++rack)
    rig.AddNode(fmt::format("r{}", rack), rack < 80 ? 63 : 1, 0, {{"rack", fmt::format("r{}", rack)}});
  AddGang(rig, "g", 5000, {{"tutti.dev/topology-balanced", "rack"}});
  rig.Settle();
  CHECK(rig.Bound() == 5000);
  CHECK(ByRack(rig, "g").size() == 80);
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

}  // namespace
}  // namespace tutti::core
