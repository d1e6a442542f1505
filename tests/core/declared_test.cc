// SPDX-License-Identifier: Apache-2.0
// Gangs that an object declares before they have pods, or enough of them: Volcano's PodGroups, by whose phase its Job
// controller knows when to make the pods.
#include <set>

#include "dialects/upstream.h"
#include "tests/core/volcano_rig.h"

namespace tutti::core {
namespace {

TEST_CASE("A status whose write is lost after its gang went and came back is written again") {
  Rig rig;
  rig.make_dialects = [] {
    dialects::DialectList dialects;
    dialects.push_back(std::make_unique<dialects::Upstream>());
    return dialects;
  };
  bool lost = true;
  rig.fate = [&lost](const cluster::Command& command) {
    const auto* patch = std::get_if<cluster::Patch>(&command.body);
    const bool status = patch && patch->object.kind == "PodGroup";
    return lost && status ? sim::Fate{.kind = sim::Fate::Kind::kDrop} : sim::Fate{};
  };
  rig.Restart();
  rig.AddNode("n1", 4);
  REQUIRE(rig.store.Create({{"apiVersion", "scheduling.k8s.io/v1alpha2"},
                            {"kind", "PodGroup"},
                            {"metadata", {{"name", "g"}, {"namespace", "default"}}},
                            {"spec", {{"schedulingPolicy", {{"gang", {{"minCount", 1}}}}}}}}));
  const sim::Json of_group = {{"schedulingGroup", {{"podGroupName", "g"}}}};
  rig.AddPod("a", {.spec = of_group});
  rig.Settle();
  rig.Delete("a");
  rig.Settle();
  rig.AddPod("b", {.spec = of_group});
  rig.Settle();
  REQUIRE(rig.Bound() == 1);
  lost = false;
  rig.Pass(120'000);
  const sim::Object group = rig.store.Find({"scheduling.k8s.io", "podgroups"}, "default", "g");
  CHECK(sim::DigString(sim::ConditionOf(*group, "PodGroupScheduled"), "status") == "True");
}

TEST_CASE("A Queue's status names what nodes have and what it caps, and nothing that pods make up") {
  VolcanoRig rig;
  rig.AddQueue("q", 8);
  REQUIRE(rig.store.Modify(kQueues, "", "q", [](sim::Json& q) { q["spec"]["capability"]["example.com/seat"] = "4"; }));
  rig.AddGroup("g", 1, "q");
  const sim::Json requests = {{"cpu", "1"}, {"example.com/seat", "2"}, {"example.com/made-up", "1"}};
  rig.AddPod(
      "g-0",
      {.annotations = {{"scheduling.k8s.io/group-name", "g"}},
       .spec = {{"nodeName", "n1"},
                {"containers",
                 {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", requests}, {"limits", requests}}}}}}}});
  rig.Pass(1'000);
  CHECK(sim::Dig(*rig.store.Find(kQueues, "", "q"), "status", "allocated") ==
        sim::Json{{"cpu", "1"}, {"example.com/seat", "2"}, {"pods", "1"}});
}

TEST_CASE("a decision says of which dialect the gang's queue is") {
  VolcanoRig rig;
  rig.AddQueue("q", 8);
  rig.AddGroup("g", 1, "q");
  rig.Settle();
  std::map<std::string, std::string> dialects;
  for (const observe::Decision& decision : rig.scheduler->Decisions())
    dialects[decision.gang.name] = decision.queue_dialect;
  CHECK(dialects == std::map<std::string, std::string>{{"g", "volcano"}});
}

TEST_CASE("Where schedulerName volcano is not served, a PodGroup without pods is another scheduler's") {
  VolcanoRig rig({"tutti"});
  rig.AddGroup("g", 1);
  rig.Pass(60'000);
  CHECK(rig.writes == 0);
  CHECK(rig.scheduler->Holds().gangs == 0);
  rig.AddMembers("g", 0, 1);
  rig.Settle();
  CHECK(rig.Phase("g") == "Running");
  rig.DeleteMembers("g", 0, 1);
  rig.Settle();
  CHECK(rig.scheduler->Holds().gangs == 0);
}

TEST_CASE("The status of a PodGroup without pods is mended when another writes over it, and found after a restart") {
  VolcanoRig rig;
  rig.AddGroup("g", 2);
  rig.Settle();
  const int writes = rig.writes;
  rig.Restart();
  rig.Pass(60'000);
  CHECK(rig.writes == writes);
  REQUIRE(
      rig.store.Modify(kGroups, "default", "g", [](sim::Json& group) { group["status"] = {{"phase", "Running"}}; }));
  rig.Settle();
  CHECK(rig.Phase("g") == "Inqueue");
}

TEST_CASE("PodGroups without pods are counted by phase in their queue, and wait only for that") {
  VolcanoRig rig;
  rig.AddQueue("q", 2);
  rig.AddGroup("big", 3, "q");
  rig.AddGroup("small", 2, "q");
  rig.AddGroup("none", 0, "q");
  rig.Pass(1'000);
  const auto status = [&] { return sim::Child(*rig.store.Find(kQueues, "", "q"), "status"); };
  CHECK(status()["pending"] == 1);
  CHECK(status()["inqueue"] == 1);
  CHECK(status()["completed"] == 1);
  for (const observe::Decision& decision : rig.scheduler->Decisions()) {
    CAPTURE(decision.gang.name);
    CHECK(decision.scheduler_name == "volcano");
    CHECK(decision.priority == 0);
    CHECK(decision.members.empty());
  }
  rig.DropGroup("big");
  rig.DropGroup("none");
  rig.Pass(1'000);
  CHECK_FALSE(status().contains("pending"));
  CHECK_FALSE(status().contains("completed"));
  CHECK(rig.scheduler->Decisions().size() == 1);
}

TEST_CASE("A gang that merely has no pods is not counted as waiting") {
  struct Waiting final : observe::Observer {
    void OnCycle(double, int64_t, const Gauges& now) override { gangs = now.waiting_gangs; }
    int64_t gangs = 0;
  } waiting;
  VolcanoRig rig;
  rig.Observe(&waiting);
  rig.AddQueue("q", 2);
  rig.AddGroup("small", 2, "q");
  rig.Settle();
  CHECK(waiting.gangs == 0);
  rig.AddGroup("big", 3, "q");
  rig.Settle();
  CHECK(waiting.gangs == 1);
  rig.DropGroup("big");
  rig.Settle();
  CHECK(waiting.gangs == 0);
  rig.AddMembers("small", 0, 1);
  rig.Settle();
  CHECK(waiting.gangs == 1);
  rig.DeleteMembers("small", 0, 1);
  rig.Settle();
  CHECK(waiting.gangs == 0);
}

TEST_CASE("Members that run and end one after another are counted in a PodGroup's status once a second") {
  VolcanoRig rig;
  rig.AddGroup("g", 8);
  rig.AddMembers("g", 0, 8);
  rig.Pass(10'000);
  REQUIRE(rig.Phase("g") == "Running");
  const auto each = [&](const char* phase) {
    const int before = rig.writes;
    for (int i = 0; i < 8; ++i) {
      rig.SetPhase(fmt::format("g-{}", i), phase);
      rig.Pass(20);
    }
    rig.Pass(3'000);
    return rig.writes - before;
  };
  CHECK(each("Running") == 2);  // the first at once, the others together
  CHECK(rig.Status("g")["running"] == 8);
  CHECK(each("Succeeded") == 2);  // the first, and that it has ended
  CHECK(rig.Phase("g") == "Completed");
  CHECK(rig.Status("g")["succeeded"] == 8);
}

TEST_CASE("PodGroups without pods cost no write while others come and go") {
  VolcanoRig rig;
  rig.AddQueue("q", 1);
  for (int i = 0; i < 300; ++i) rig.AddGroup(fmt::format("w{}", i), 2, i % 2 ? "q" : "default");
  rig.Pass(60'000);
  CHECK(rig.writes == 300);
  CHECK(rig.said.size() == 150);
  for (int i = 0; i < 3; ++i) {
    rig.AddPod("p", {});
    rig.Pass(40'000);
    rig.Delete("p");
    rig.Pass(40'000);
  }
  CHECK(rig.writes == 300);
  CHECK(rig.said.size() == 150);
  CHECK(rig.scheduler->Holds().gangs == 300);
  CHECK(rig.scheduler->Holds().timers == 0);
}

TEST_CASE("Of a whole gang that is not declared any more no further pod is placed, while one bind is unanswered too") {
  VolcanoRig rig;
  rig.AddQueue("q", 3);
  rig.AddGroup("g", 2, "q");
  rig.AddMembers("g", 0, 2);
  rig.Settle();
  REQUIRE(rig.Bound() == 2);
  rig.fate = [](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    return bind && bind->pod.name() == "g-2" ? sim::Fate{.kind = sim::Fate::Kind::kDrop} : sim::Fate{};
  };
  rig.AddMembers("g", 2, 5);
  rig.Settle();
  rig.DropGroup("g");
  rig.Pass(1'000);
  CHECK(rig.Bound() == 2);
  for (const char* name : {"g-3", "g-4"}) CHECK_THAT(rig.Waits(name), Catch::Contains("PodGroup"));
}

TEST_CASE("A gang that asks for fewer members, and still for too many, says for how many") {
  VolcanoRig rig;
  rig.AddGroup("g", 19, "default", {{"minResources", nullptr}});
  rig.AddMembers("g", 0, 19);
  rig.Settle();
  REQUIRE_THAT(rig.Waits("g-0"), Catch::Contains("of the 19 pods it needs"));
  REQUIRE(rig.store.Modify(kGroups, "default", "g", [](sim::Json& group) { group["spec"]["minMember"] = 18; }));
  rig.Pass(100);
  CHECK_THAT(rig.Waits("g-0"), Catch::Contains("of the 18 pods it needs"));
}

}  // namespace
}  // namespace tutti::core
