// SPDX-License-Identifier: Apache-2.0
// What a gang is: its minimum, its head and roles, its turn, and whose words count.
#include "dialects/yunikorn.h"
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

TEST_CASE("What every pod of a gang declares alike is read once") {
  Rig rig;
  const dialects::Dialect* yunikorn = nullptr;
  rig.make_dialects = [&] {
    dialects::DialectList dialects;
    yunikorn = dialects.emplace_back(std::make_unique<dialects::YuniKorn>()).get();
    return dialects;
  };
  rig.Restart();
  rig.AddNode("n1", 8);
  const sim::Json annotations = {{"yunikorn.apache.org/app-id", "app"},
                                 {"yunikorn.apache.org/task-groups", R"([{"name":"w","minMember":3}])"}};
  for (int i = 0; i < 2; ++i) rig.AddPod(fmt::format("p-{}", i), {.annotations = annotations});
  rig.Settle();
  model::Pod pod;
  pod.meta.ns = "default";
  for (const auto& [key, value] : annotations.items()) pod.meta.annotations.emplace_back(key, value.get<std::string>());
  const std::weak_ptr<const model::GangSpec> held = yunikorn->MembershipOf(pod)->declared;
  CHECK_FALSE(held.expired());
  rig.AddPod("p-2", {.annotations = {{"yunikorn.apache.org/app-id", "app"},
                                     {"yunikorn.apache.org/task-groups", R"([{"name":"w","minMember":4}])"}}});
  rig.Settle();
  CHECK(held.expired());  // the last word counts
}

TEST_CASE("The head is not optional, and is bound last") {
  Rig rig;
  rig.AddNode("n1", 3);
  rig.AddPod("w1", {.gang = "g", .role = "worker", .min = "2"});
  rig.AddPod("w2", {.gang = "g", .role = "worker", .min = "2"});
  rig.AddPod("h", {.gang = "g", .role = "head", .min = "2", .cpu = "4"});
  rig.Settle();
  CHECK(rig.Bound() == 0);
  rig.AddNode("n2", 4);
  std::vector<std::string> order;
  rig.fate = [&](const cluster::Command& command) {
    if (const auto* bind = std::get_if<cluster::Bind>(&command.body)) order.push_back(bind->pod.name());
    return sim::Fate{};
  };
  rig.Settle();
  CHECK(rig.Bound() == 3);
  REQUIRE(order.size() == 3);
  CHECK(std::ranges::find(order, "h") != order.begin());
}

TEST_CASE("A role that cannot be met alone is a proof, whatever else the gang asks for") {
  Rig rig;
  rig.AddNode("n1", 8, 1);
  rig.AddPod("h", {.gang = "g", .role = "head", .min = "3"});
  rig.AddPod("w1", {.gang = "g", .role = "worker", .min = "3", .gpu = 1});
  rig.AddPod("w2", {.gang = "g", .role = "worker", .min = "3", .gpu = 1});
  rig.Settle();
  CHECK(rig.Waits("w1").starts_with(
      "Unschedulable: gang default/g waits: 2 of the 3 pods it needs fit now (head 1/1, worker 1/2)."));
}

TEST_CASE("Roles whose members are alike share the room there is, and that it is too little is a proof") {
  Rig rig;
  for (int i = 0; i < 100; ++i) rig.AddNode(fmt::format("n{}", i), 9);
  for (const char* role : {"a", "b"})
    for (int i = 0; i < 451; ++i) rig.AddPod(fmt::format("{}-{}", role, i), {.gang = "g", .role = role, .min = "902"});
  rig.Settle();
  const std::string gang =
      "Unschedulable: gang default/g waits: 900 of the 902 pods it needs fit now (a 451/451, b 449/451). Missing: 2 "
      "cpu. "
      "The cluster has 900 cpu in all, and the pods that wait ask for 902: they need more nodes. ";
  CHECK(rig.Waits("a-0") == gang + "This pod fits; it waits for role b.");
  CHECK(rig.Waits("b-0") == gang + "0/100 nodes are available: 100 Insufficient cpu.");
}

TEST_CASE("The minimum of a role without a name is no less a minimum") {
  Rig rig;
  for (const char* name : {"n1", "n2"}) rig.AddNode(name, 5);
  // Four of the small ones fit, but then neither of the two that must be among the four.
  for (int i = 0; i < 4; ++i)
    rig.AddPod(fmt::format("a-small-{}", i), {.gang = "g", .role = "small", .min = "4", .cpu = "2"});
  for (int i = 0; i < 2; ++i)
    rig.AddPod(fmt::format("b-large-{}", i), {.gang = "g", .min = "4", .cpu = "5", .annotations = {{"role", ""}}});
  rig.Settle();
  CHECK(rig.Bound() == 0);
  CHECK_THAT(rig.Waits("b-large-0"),
             Catch::Contains(
                 "gang default/g waits: 3 of the 4 pods it needs fit now (\"\" 1/2, others 2/2). Missing: 5 cpu."));
}

TEST_CASE("A waiting gang costs nothing until something relevant happens") {
  Rig rig;
  rig.AddNode("n1", 1);
  rig.AddGang("g", 4, 4);
  rig.Settle();
  int commands = 0;
  rig.fate = [&](const cluster::Command&) { return ++commands, sim::Fate{}; };
  for (int i = 0; i < 5; ++i) {  // heartbeats
    REQUIRE(rig.store.Modify(
        sim::kNodes, "", "n1",
        [&](sim::Json& node) {
          node["status"]["conditions"] = sim::Json::array();
          node["status"]["conditions"].push_back(
              {{"type", "Ready"},
               {"status", "True"},
               {"lastHeartbeatTime", base::FormatTime(rig.clock.WallMs() + i * 1000)}});
        },
        sim::Part::kStatus));
    rig.Settle();
  }
  CHECK(commands == 0);
}

TEST_CASE("A forged or copied bind annotation says nothing") {
  Rig rig;
  rig.AddNode("n1", 4);
  rig.AddGang("g", 4, 4);
  rig.Settle();
  const sim::Object bound = rig.store.Find(sim::kPods, "default", "g-0");
  const std::string stolen = sim::AnnotationOf(*bound, "tutti.dev/bind");
  REQUIRE_FALSE(stolen.empty());
  rig.AddPod("copy", {});
  rig.Annotate("copy", "tutti.dev/bind", stolen);
  rig.Restart();
  rig.Pass(120'000);
  CHECK(rig.Bound() == 4);
}

}  // namespace
}  // namespace tutti::core
