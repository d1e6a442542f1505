// SPDX-License-Identifier: Apache-2.0
// Gangs whose members constrain each other: placed where that is possible, refused with a reason that is true.
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

using sim::Json;

Json Term(const std::string& key, const std::string& label, const std::string& value) {
  return Json::array({{{"topologyKey", key}, {"labelSelector", {{"matchLabels", {{label, value}}}}}}});
}
Json Affinity(const std::string& key, const std::string& label, const std::string& value) {
  return {
      {"affinity", {{"podAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", Term(key, label, value)}}}}}};
}
Json AntiAffinity(const std::string& key, const std::string& label, const std::string& value) {
  return {{"affinity",
           {{"podAntiAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", Term(key, label, value)}}}}}};
}
Json Host(const std::string& name, const std::string& zone = "z") {
  return {{"kubernetes.io/hostname", name}, {"zone", zone}};
}

TEST_CASE("Members that keep apart by host start on as many hosts, or say that there are too few") {
  Rig rig;
  for (const char* name : {"n1", "n2"}) rig.AddNode(name, 8, 0, Host(name));
  for (int i = 0; i < 3; ++i)
    rig.AddPod(fmt::format("g-{}", i),
               {.gang = "g", .min = "3", .spec = AntiAffinity("kubernetes.io/hostname", "gang", "g")});
  rig.Settle();
  CHECK(rig.Bound() == 0);
  CHECK(rig.Waits("g-0") ==
        "Unschedulable: gang default/g waits: 2 of the 3 pods it needs fit now. 0/2 nodes are available: "
        "2 node(s) didn't match pod anti-affinity rules.");
  rig.AddNode("n3", 8, 0, Host("n3"));
  rig.Settle();
  CHECK(rig.Bound() == 3);
}

TEST_CASE("A gang with affinity to itself goes where all of it has room, not where its first member would rather be") {
  Rig rig;
  rig.AddNode("wide", 64, 0, Host("wide", "a"));  // the emptiest, and alone in its zone
  rig.AddPod("most", {.cpu = "62", .spec = {{"nodeSelector", {{"zone", "a"}}}}});
  rig.Settle();
  for (int i = 0; i < 4; ++i) rig.AddNode(fmt::format("b{}", i), 2, 0, Host(fmt::format("b{}", i), "b"));
  for (int i = 0; i < 8; ++i)
    rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "8", .spec = Affinity("zone", "gang", "g")});
  rig.Settle();
  CHECK(rig.Bound() == 9);
  CHECK(rig.NodeOf("g-0").starts_with("b"));
}

TEST_CASE("A gang with affinity to itself that no domain holds is refused with a proof, and woken by room") {
  Rig rig;
  for (const char* zone : {"a", "b"}) rig.AddNode(zone, 3, 0, Host(zone, zone));
  for (int i = 0; i < 4; ++i)
    rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "4", .spec = Affinity("zone", "gang", "g")});
  rig.Settle();
  CHECK(rig.Bound() == 0);
  CHECK(rig.Waits("g-0").find("no proof") == std::string::npos);
  rig.AddNode("b2", 3, 0, Host("b2", "b"));
  rig.Settle();
  CHECK(rig.Bound() == 4);
}

TEST_CASE("A member may need another one of its gang to be placed first") {
  Rig rig;
  rig.AddNode("n1", 8, 0, Host("n1"));
  // The large one would be placed first, and has nothing to stand beside until the small one is there.
  rig.AddPod("large",
             {.gang = "g", .role = "large", .min = "2", .cpu = "4", .spec = Affinity("zone", "role", "small")});
  rig.AddPod("small", {.gang = "g", .role = "small", .min = "2"});
  rig.Settle();
  CHECK(rig.Bound() == 2);
}

TEST_CASE("A pod that must stand beside another is woken when that one comes") {
  Rig rig;
  rig.AddNode("n1", 8, 0, Host("n1"));
  rig.AddPod("follower", {.spec = Affinity("zone", "role", "leader")});
  rig.Settle();
  CHECK(rig.Bound() == 0);
  rig.AddPod("leader", {.role = "leader"});
  rig.Settle();
  CHECK(rig.Bound() == 2);
}

TEST_CASE("Classes of different shape are put together where only one way fits") {
  Rig rig;
  // 5 + 3 and 4 + 4: the largest first on the emptiest node leaves 5 + 3 nowhere to go but so.
  rig.AddNode("n1", 8, 0, Host("n1"));
  rig.AddNode("n2", 8, 0, Host("n2"));
  for (const auto& [name, cpu] : {std::pair{"a", "5"}, {"b", "4"}, {"c", "4"}, {"d", "3"}})
    rig.AddPod(name, {.gang = "g", .min = "4", .cpu = cpu});
  rig.Settle();
  CHECK(rig.Bound() == 4);
}

TEST_CASE("Members that want one host port go to as many hosts") {
  Rig rig;
  for (const char* name : {"n1", "n2"}) rig.AddNode(name, 8, 0, Host(name));
  const Json port = {
      {"containers", {{{"name", "c"}, {"image", "i"}, {"ports", {{{"containerPort", 80}, {"hostPort", 80}}}}}}}};
  for (int i = 0; i < 3; ++i) rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "3", .spec = port});
  rig.Settle();
  CHECK(rig.Bound() == 0);
  rig.AddNode("n3", 8, 0, Host("n3"));
  rig.Settle();
  CHECK(rig.Bound() == 3);
}

TEST_CASE("A gang spread over zones is placed in the order that its skew allows") {
  Rig rig;
  for (const char* name : {"a1", "a2"}) rig.AddNode(name, 8, 0, Host(name, "a"));
  rig.AddNode("b1", 2, 0, Host("b1", "b"));
  const Json spread = {{"topologySpreadConstraints",
                        {{{"maxSkew", 1},
                          {"topologyKey", "zone"},
                          {"whenUnsatisfiable", "DoNotSchedule"},
                          {"labelSelector", {{"matchLabels", {{"gang", "g"}}}}}}}}};
  for (int i = 0; i < 5; ++i) rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "5", .spec = spread});
  rig.Settle();
  CHECK(rig.Bound() == 5);
  rig.AddPod("one-too-many-0", {.gang = "h", .min = "1"});
  rig.Settle();
  CHECK(rig.Bound() == 6);
}

}  // namespace
}  // namespace tutti::core
