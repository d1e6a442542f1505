// SPDX-License-Identifier: Apache-2.0
// Queues as the cycle meets them: who is admitted, whose turn it is, and what is written about them.
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

TEST_CASE("A gang starts with those members that its queue holds, though heavier ones would fit the nodes") {
  // The heavy one is placed first where all are alike to the queue, and stands first or last among the members.
  const std::string heavy = GENERATE("a", "z");
  Rig rig;
  rig.AddNode("n1", 16);
  rig.AddPod(heavy, {.gang = "g", .min = "2", .queue = "four", .cpu = "4"});
  for (const char* name : {"m1", "m2"}) rig.AddPod(name, {.gang = "g", .min = "2", .queue = "four"});
  rig.Pass(10'000);
  CHECK(rig.NodeOf("m1") == "n1");
  CHECK(rig.NodeOf("m2") == "n1");
  CHECK(rig.NodeOf(heavy).empty());
  CHECK_THAT(rig.Waits(heavy), Catch::Contains("cpu capability 4, used 2, asked 4 (short by 2)"));
}

TEST_CASE("Where the lightest members have no node, the gang waits for its queue and for nodes") {
  Rig rig;
  rig.AddNode("n1", 16);
  rig.AddPod("a", {.gang = "g", .min = "2", .queue = "four", .cpu = "4"});
  rig.AddPod("b", {.gang = "g", .min = "2", .queue = "four"});
  rig.AddPod("c", {.gang = "g", .min = "2", .queue = "four", .gpu = 1});
  rig.Pass(10'000);
  CHECK(rig.Bound() == 0);
  CHECK_THAT(rig.Waits("b"),
             Catch::Contains("cpu capability 4, used 0, asked 5 (short by 1, and more than it ever holds)"));
  rig.AddNode("n2", 2, 1);
  rig.Pass(10'000);
  CHECK(rig.NodeOf("b") != "");
  CHECK(rig.NodeOf("c") == "n2");
  CHECK(rig.NodeOf("a").empty());
}

TEST_CASE("Of gangs that come with one batch of events the one of higher priority is first, whoever was seen first") {
  Rig rig;
  rig.AddPriorityClass("high", 10);
  rig.AddNode("n1", 2);
  for (const char* name : {"a1", "a2"}) rig.AddPod(name, {.gang = "a", .min = "2"});
  rig.AddPod("b1", {.gang = "b", .min = "2"});
  rig.AddPod("b2", {.gang = "b", .min = "2", .priority_class = "high"});
  rig.Settle();
  CHECK(rig.NodeOf("b1") == "n1");
  CHECK(rig.NodeOf("a1").empty());
}

TEST_CASE("A queue's status that is refused is written again after a pause, not at once") {
  std::vector<dialects::GangState> reports;
  Rig rig(Options::Policy::kRepair, &reports);
  rig.AddNode("n1", 4);
  int writes = 0;
  rig.fate = [&](const cluster::Command& command) {
    const auto* patch = std::get_if<cluster::Patch>(&command.body);
    if (!patch || patch->object.resource != "queues") return sim::Fate{};
    ++writes;
    return sim::Fate{.kind = sim::Fate::Kind::kRefuse, .http_status = 403, .message = "no"};
  };
  rig.AddPod("p", {.queue = "four"});
  rig.Pass(20'000);
  CHECK(writes >= 3);
  CHECK(writes <= 5);
}

}  // namespace
}  // namespace tutti::core
