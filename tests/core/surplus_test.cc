// SPDX-License-Identifier: Apache-2.0
// How a gang that is whole is filled up: which pods are tried, in what parts, and what those are told that find no
// place.
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

const sim::Json kNowhere = {{"nodeSelector", {{"disk", "lost"}}}};

TEST_CASE("Each member that a whole gang has no place for is told why it finds none, not why another does") {
  Rig rig;
  rig.AddNode("n1", 8);
  rig.AddPod("a", {.gang = "g", .queue = "four"});
  rig.Settle();
  rig.AddPod("b-label", {.gang = "g", .queue = "four", .spec = kNowhere});
  rig.AddPod("c-big", {.gang = "g", .queue = "four", .cpu = "100"});
  rig.AddPod("d-label", {.gang = "g", .queue = "four", .spec = kNowhere});
  rig.Pass(2'000);
  for (const char* name : {"b-label", "d-label"})
    CHECK(rig.Waits(name) ==
          "Unschedulable: gang default/g is whole; 2 more pods wait. 0/1 nodes are available: 1 node(s) didn't match "
          "Pod's node affinity/selector.");
  CHECK(rig.Waits("c-big") ==
        "Unschedulable: gang default/g is whole; 1 more pod waits: queue \"four\" is full: cpu capability 4, used 1, "
        "asked 100 (short by 97, and more than it ever holds).");
}

TEST_CASE("However many kinds of members find no place, each is tried, and told its own reason") {
  Rig rig;
  rig.AddNode("n1", 4);
  rig.AddPod("a", {.gang = "g"});
  rig.Settle();
  for (int i = 0; i < 80; ++i)
    rig.AddPod(fmt::format("m-{}", i), {.gang = "g", .cpu = fmt::format("{}m", 100 + i), .spec = kNowhere});
  rig.AddPod("z-big", {.gang = "g", .cpu = "9"});
  rig.AddPod("z-fits", {.gang = "g"});
  rig.Pass(1'000);
  CHECK(rig.NodeOf("z-fits") == "n1");
  for (int i = 0; i < 80; ++i)
    CHECK(rig.Waits(fmt::format("m-{}", i)).find("didn't match Pod's node affinity/selector") != std::string::npos);
  CHECK_THAT(rig.Waits("z-big"), Catch::Contains("Missing: 9 cpu."));

  // Nor do events that come faster than all can be tried keep it from its turn.
  int commands = 0;
  rig.fate = [&](const cluster::Command&) { return ++commands, sim::Fate{}; };
  rig.Pass(60'000);
  CHECK(commands == 0);
  rig.AddNode("n2", 9);
  for (int i = 0; i < 8; ++i) {
    rig.AddNode(fmt::format("small-{}", i), 1);
    rig.Settle();
  }
  CHECK(rig.NodeOf("z-big") == "n2");
}

TEST_CASE("A member whose bind a node refuses does not keep its equals from being tried there") {
  Rig rig;
  rig.AddNode("n1", 4);
  rig.AddPod("a", {.gang = "g"});
  rig.Settle();
  rig.fate = [](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    if (bind && bind->pod.name() == "b") return Refused();
    return sim::Fate{};
  };
  rig.AddPod("b", {.gang = "g"});
  rig.Pass(500);
  rig.AddPod("c", {.gang = "g"});
  rig.Settle();
  CHECK(rig.NodeOf("c") == "n1");
  CHECK(rig.NodeOf("b").empty());
}

TEST_CASE("The members of a role that grows by units wait until a unit of them exists, and fits") {
  Rig rig;
  rig.AddNode("n1", 2);
  rig.AddPod("h", {.gang = "g", .role = "head"});
  rig.AddPod("w-0", {.gang = "g", .role = "pairs"});
  rig.Pass(2'000);
  REQUIRE(rig.NodeOf("h") == "n1");
  CHECK(rig.NodeOf("w-0").empty());
  CHECK(rig.Waits("w-0") == "Unschedulable: gang default/g waits for 1 more member of role pairs: 2 start together.");
  rig.AddPod("w-1", {.gang = "g", .role = "pairs"});
  rig.Pass(2'000);
  CHECK(rig.Bound() == 1);
  CHECK(rig.Waits("w-0").starts_with(
      "Unschedulable: gang default/g is whole; 2 more pods wait: 1 of 2 that start together fit now"));
  rig.AddNode("n2", 2);
  rig.AddPod("w-2", {.gang = "g", .role = "pairs"});
  rig.Pass(2'000);
  CHECK(rig.Bound() == 3);
  CHECK(rig.NodeOf("w-2").empty());

  // One that died is brought back alone.
  rig.Delete("w-0");
  rig.Settle();
  CHECK(rig.Bound() == 3);
  CHECK(rig.NodeOf("w-2") != "");
}

TEST_CASE("No member of a unit that holds nothing starts before all of it can, whatever their roles") {
  Rig rig;
  rig.AddNode("n1", 6);
  const sim::Json asked = {{"unit-size", "2"}, {"unit-min", "1"}};
  for (const char* name : {"a-0", "a-1"}) rig.AddPod(name, {.gang = "g", .unit = "a", .annotations = asked});
  rig.Settle();
  REQUIRE(rig.Bound() == 2);
  rig.AddPod("b-0", {.gang = "g", .role = "leader", .unit = "b", .annotations = asked});
  rig.Pass(2'000);
  CHECK(rig.NodeOf("b-0").empty());
  CHECK(rig.Waits("b-0") ==
        "Unschedulable: gang default/g waits for 1 more member of a subgroup of units: 2 start together.");
  rig.AddPod("b-1", {.gang = "g", .role = "worker", .unit = "b", .cpu = "5", .annotations = asked});
  rig.Settle();
  CHECK(rig.Bound() == 2);
  rig.AddNode("n2", 5);
  rig.Settle();
  CHECK(rig.Bound() == 4);

  rig.Delete("b-0");
  rig.AddPod("b-2", {.gang = "g", .role = "leader", .unit = "b", .annotations = asked});
  rig.Settle();
  CHECK(rig.Bound() == 4);
}

TEST_CASE("A member of a whole gang whose node comes back stays, though another member is just being bound") {
  Rig rig;
  rig.AddNode("n1", 1);
  rig.AddPod("a", {.gang = "g"});
  rig.Settle();
  REQUIRE(rig.NodeOf("a") == "n1");
  rig.AddNode("n2", 1);
  rig.fate = [](const cluster::Command& command) {
    return sim::Fate{.request_delay_ms = std::holds_alternative<cluster::Bind>(command.body) ? 5'000 : 0};
  };
  rig.AddPod("c", {.gang = "g"});
  rig.Settle();
  REQUIRE(rig.NodeOf("c").empty());
  rig.DeleteNode("n1");
  rig.Pass(2'000);
  rig.AddNode("n1", 1);
  rig.Pass(10'000);
  CHECK(rig.NodeOf("a") == "n1");
  CHECK(rig.NodeOf("c") == "n2");
}

TEST_CASE("Two whole gangs whose figures are due at one time are both told new ones") {
  Rig rig;
  rig.AddNode("n1", 2);
  for (const char* gang : {"a", "b"}) rig.AddGang(gang, 1, 1);
  rig.Settle();
  REQUIRE(rig.Bound() == 2);
  for (const char* gang : {"a", "b"}) rig.AddPod(fmt::format("{}-more", gang), {.gang = gang, .min = "1", .cpu = "4"});
  rig.Settle();
  rig.AddNode("n2", 1);
  rig.Pass(60'000);
  for (const char* gang : {"a", "b"})
    CHECK(
        rig.Waits(fmt::format("{}-more", gang)) ==
        fmt::format("Unschedulable: gang default/{} is whole; 1 more pod waits. Missing: 4 cpu. No node has more than "
                    "2 cpu, and one pod asks for 4: it needs a larger node. 0/2 nodes are available: 2 Insufficient "
                    "cpu.",
                    gang));
}

}  // namespace
}  // namespace tutti::core
