// SPDX-License-Identifier: Apache-2.0
// What a waiting gang waits for: it starts at the first moment at which it can, whatever came in between.
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

// A node of one cpu, and a pod that fills it.
void AddFull(Rig& rig, const std::string& node, const std::string& pod) {
  rig.AddNode(node, 1);
  rig.AddPod(pod, {});
  rig.Settle();
  REQUIRE(rig.NodeOf(pod) == node);
}

void SetTaint(Rig& rig, const std::string& node, const sim::Json& taints) {
  REQUIRE(rig.store.Modify(sim::kNodes, "", node, [&](sim::Json& object) { object["spec"]["taints"] = taints; }));
  rig.Settle();
}

const sim::Json kTaint = {{{"key", "k"}, {"effect", "NoSchedule"}}};

}  // namespace

TEST_CASE("a gang that lacks two nodes starts when two are free, not when one is") {
  Rig rig;
  for (const std::string i : {"1", "2", "3"}) AddFull(rig, "n" + i, "p" + i);
  rig.AddPod("a", {.gang = "g", .min = "2"});
  rig.AddPod("b", {.gang = "g", .min = "2"});
  rig.Settle();
  CHECK_FALSE(rig.Waits("a").empty());
  rig.Delete("p1");
  rig.Settle();
  CHECK(rig.Bound() == 2);
  SECTION("the first one is still free") {
    rig.Delete("p2");
    rig.Settle();
    CHECK(rig.NodeOf("a") != rig.NodeOf("b"));
    CHECK(rig.Bound() == 3);
  }
  SECTION("the first one is taken before the second comes") {
    rig.AddPod("quick", {});
    rig.Settle();
    CHECK(rig.NodeOf("quick") == "n1");
    rig.Delete("p2");
    rig.Settle();
    CHECK(rig.NodeOf("a").empty());
    rig.Delete("p3");
    rig.Settle();
    CHECK(rig.NodeOf("a") != rig.NodeOf("b"));
    CHECK(rig.Bound() == 3);
  }
}

TEST_CASE("a node that was freed behind a taint is found when the taint goes") {
  Rig rig;
  AddFull(rig, "n", "p");
  rig.AddPod("waiting", {});
  rig.Settle();
  SECTION("tainted, then freed") {
    SetTaint(rig, "n", kTaint);
    rig.Delete("p");
    rig.Settle();
  }
  SECTION("with another node between") {
    SetTaint(rig, "n", kTaint);
    rig.Delete("p");
    rig.AddNode("small", 0);
    rig.Settle();
  }
  CHECK(rig.NodeOf("waiting").empty());
  SetTaint(rig, "n", sim::Json::array());
  CHECK(rig.NodeOf("waiting") == "n");
}

TEST_CASE("a node freed, tainted and judged again is found when the taint goes") {
  Rig rig;
  for (const std::string i : {"1", "2", "3"}) AddFull(rig, "n" + i, "p" + i);
  rig.AddPod("a", {.gang = "g", .min = "2"});
  rig.AddPod("b", {.gang = "g", .min = "2"});
  rig.Settle();
  rig.Delete("p1");
  rig.Settle();
  SetTaint(rig, "n1", kTaint);
  rig.Delete("p2");
  rig.Settle();
  CHECK(rig.Bound() == 1);
  SetTaint(rig, "n1", sim::Json::array());
  CHECK(rig.Bound() == 3);
}

TEST_CASE("room that a refused bind gives up is taken by who waits for it") {
  Rig rig;
  rig.AddNode("n", 1);
  rig.AddPod("first", {});
  rig.AddPod("second", {.cpu = "900m"});
  rig.fate = [](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    sim::Fate fate;
    if (bind && bind->pod.name() == "first") fate = {.kind = sim::Fate::Kind::kRefuse, .http_status = 422};
    return fate;
  };
  for (int i = 0; i < 20; ++i) rig.Step();  // no time passes
  CHECK(rig.NodeOf("first").empty());
  CHECK(rig.NodeOf("second") == "n");
}

}  // namespace tutti::core
