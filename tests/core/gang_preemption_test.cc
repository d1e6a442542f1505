// SPDX-License-Identifier: Apache-2.0
// Gangs of higher priority take the place of others, from the search to the last bind.
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

struct PreemptionRig : Rig {
  PreemptionRig() {
    configure = [](Options* options) { options->gang_preemption = Options::GangPreemption::kLowerPriority; };
    Restart();
    AddPriorityClass("high", 100);
    AddPriorityClass("higher", 200);
  }
  void AddGangOf(const std::string& gang, int members, int min, const std::string& priority,
                 const std::string& role = "") {
    for (int i = 0; i < members; ++i)
      AddPod(fmt::format("{}-{}", gang, i),
             {.gang = gang, .role = i == 0 ? role : "", .min = std::to_string(min), .priority_class = priority});
  }
  // Pods of the gang that are bound.
  int BoundOf(const std::string& gang) const {
    int bound = 0;
    for (const sim::Object& pod : store.All(sim::kPods))
      bound += sim::NameOf(*pod).starts_with(gang + "-") && !sim::DigString(*pod, "spec", "nodeName").empty();
    return bound;
  }
};

}  // namespace

TEST_CASE("A whole gang goes for a gang of higher priority, and nobody for one of the same") {
  PreemptionRig rig;
  rig.AddNode("m", 2);
  rig.AddGang("runs", 2, 2);
  rig.Pass(5'000);
  REQUIRE(rig.BoundOf("runs") == 2);
  rig.AddGang("same", 2, 2);
  rig.Pass(60'000);
  CHECK(rig.BoundOf("same") == 0);
  rig.AddGangOf("high", 2, 2, "high");
  rig.Pass(60'000);
  CHECK(rig.BoundOf("high") == 2);
  CHECK(rig.BoundOf("runs") == 0);
  CHECK(rig.NodeOf("runs-0") == "<gone>");
  CHECK(rig.NodeOf("runs-1") == "<gone>");
}

TEST_CASE("A gang gives what it can spare, and its head stays") {
  PreemptionRig rig;
  rig.AddNode("m", 4);
  rig.AddGangOf("ray", 4, 2, "", "head");
  rig.Pass(5'000);
  REQUIRE(rig.BoundOf("ray") == 4);
  rig.AddGangOf("high", 2, 2, "high");
  rig.Pass(60'000);
  CHECK(rig.BoundOf("high") == 2);
  CHECK(rig.BoundOf("ray") == 2);
  CHECK(rig.NodeOf("ray-0") == "m");
}

TEST_CASE("Nobody goes in vain: it is waited until those that go make room for the whole gang") {
  PreemptionRig rig;
  rig.AddNode("m", 4);
  rig.AddGangOf("over", 1, 1, "higher");
  rig.Pass(2'000);
  rig.AddGang("low", 3, 1);
  rig.Pass(5'000);
  REQUIRE(rig.BoundOf("low") == 3);
  rig.AddGangOf("high", 4, 4, "high");
  rig.Pass(120'000);
  CHECK(rig.BoundOf("low") == 3);
  CHECK(rig.BoundOf("high") == 0);
  rig.Delete("over-0");
  rig.Pass(60'000);
  CHECK(rig.BoundOf("low") == 0);
  CHECK(rig.BoundOf("high") == 4);
}

TEST_CASE("A scheduler that dies while victims leave is followed by one that evicts nobody else") {
  PreemptionRig rig;
  rig.AddNode("a", 2);
  rig.AddNode("b", 2);
  rig.AddGang("one", 2, 2);
  rig.AddGang("two", 2, 2);
  rig.Pass(5'000);
  REQUIRE(rig.BoundOf("one") + rig.BoundOf("two") == 4);
  rig.AddGangOf("high", 2, 2, "high");
  for (int steps = 0; steps < 6; ++steps) rig.Step();
  rig.Restart();
  rig.Pass(60'000);
  CHECK(rig.BoundOf("high") == 2);
  CHECK(rig.BoundOf("one") + rig.BoundOf("two") == 2);
}

TEST_CASE("Without preemption nobody goes") {
  Rig rig;
  rig.AddPriorityClass("high", 100);
  rig.AddNode("m", 1);
  rig.AddPod("runs", {});
  rig.Pass(2'000);
  rig.AddPod("high", {.gang = "high", .priority_class = "high"});
  rig.Pass(60'000);
  CHECK(rig.NodeOf("runs") == "m");
}

}  // namespace tutti::core
