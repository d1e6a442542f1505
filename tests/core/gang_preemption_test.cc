// SPDX-License-Identifier: Apache-2.0
// Gangs of higher priority take the place of others, from the search to the last bind.
#include <algorithm>

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
  bool Exists(const std::string& pod) { return store.Find(sim::kPods, "default", pod) != nullptr; }
  // Pods of the gang that are bound.
  int Bound(const std::string& gang) {
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
  rig.AddGangOf("runs", 2, 2, "");
  rig.Pass(5'000);
  REQUIRE(rig.Bound("runs") == 2);
  rig.AddGangOf("same", 2, 2, "");
  rig.Pass(60'000);
  CHECK(rig.Bound("same") == 0);
  rig.AddGangOf("high", 2, 2, "high");
  rig.Pass(60'000);
  CHECK(rig.Bound("high") == 2);
  CHECK(rig.Bound("runs") == 0);
  CHECK_FALSE(rig.Exists("runs-0"));
  CHECK_FALSE(rig.Exists("runs-1"));
}

TEST_CASE("A gang gives what it can spare, and its head stays") {
  PreemptionRig rig;
  rig.AddNode("m", 4);
  rig.AddGangOf("ray", 4, 2, "", "head");
  rig.Pass(5'000);
  REQUIRE(rig.Bound("ray") == 4);
  rig.AddGangOf("high", 2, 2, "high");
  rig.Pass(60'000);
  CHECK(rig.Bound("high") == 2);
  CHECK(rig.Bound("ray") == 2);
  CHECK(rig.Exists("ray-0"));
}

TEST_CASE("Nobody goes in vain: it is waited until those that go make room for the whole gang") {
  PreemptionRig rig;
  rig.AddNode("m", 4);
  rig.AddGangOf("over", 1, 1, "higher");
  rig.Pass(2'000);
  rig.AddGangOf("low", 3, 1, "");
  rig.Pass(5'000);
  REQUIRE(rig.Bound("low") == 3);
  rig.AddGangOf("high", 4, 4, "high");
  rig.Pass(120'000);
  CHECK(rig.Bound("low") == 3);
  CHECK(rig.Bound("high") == 0);
  rig.Delete("over-0");
  rig.Pass(60'000);
  CHECK(rig.Bound("low") == 0);
  CHECK(rig.Bound("high") == 4);
}

TEST_CASE("A scheduler that dies while victims leave is followed by one that evicts nobody else") {
  PreemptionRig rig;
  rig.AddNode("a", 2);
  rig.AddNode("b", 2);
  rig.AddGangOf("one", 2, 2, "");
  rig.AddGangOf("two", 2, 2, "");
  rig.Pass(5'000);
  REQUIRE(rig.Bound("one") + rig.Bound("two") == 4);
  rig.AddGangOf("high", 2, 2, "high");
  for (int steps = 0; steps < 6; ++steps) rig.Step();
  rig.Restart();
  rig.Pass(60'000);
  CHECK(rig.Bound("high") == 2);
  CHECK(rig.Bound("one") + rig.Bound("two") == 2);
}

TEST_CASE("Without preemption nobody goes") {
  Rig rig;
  rig.AddPriorityClass("high", 100);
  rig.AddNode("m", 1);
  rig.AddPod("runs", {});
  rig.Pass(2'000);
  rig.AddPod("high", {.gang = "high", .priority_class = "high"});
  rig.Pass(60'000);
  CHECK(rig.store.Find(sim::kPods, "default", "runs") != nullptr);
}

}  // namespace tutti::core
