// SPDX-License-Identifier: Apache-2.0
// "Was whole" is not "is whole": what is said of a gang that lost required members, or whose members are going.
#include "dialects/scheduler_plugins.h"
#include "tests/core/volcano_rig.h"

namespace tutti::core {
namespace {

// The type of the condition that is the newest by its lastTransitionTime.
std::string Newest(const sim::Json& status) {
  std::string type, time;
  for (const sim::Json& condition : status["conditions"])
    if (sim::DigString(condition, "lastTransitionTime") > time) {
      time = sim::DigString(condition, "lastTransitionTime");
      type = sim::DigString(condition, "type");
    }
  return type;
}

std::string MessageOf(const sim::Json& status, const std::string& type) {
  for (const sim::Json& condition : status["conditions"])
    if (sim::DigString(condition, "type") == type) return sim::DigString(condition, "message");
  return {};
}

struct StandingRig : VolcanoRig {
  StandingRig() { AddQueue("q", 100); }
  void Terminate(const std::string& pod) { REQUIRE(store.Delete(sim::kPods, "default", pod, {.grace_seconds = 30})); }
  void Run(const std::string& group, int members) {
    for (int i = 0; i < members; ++i) SetPhase(fmt::format("{}-{}", group, i), "Running");
    Pass(200);
  }
  int64_t Counter(const char* name) {
    Pass(200);
    const sim::Json& count = sim::Dig(*store.Find(kQueues, "", "q"), "status", name);
    return count.is_number() ? count.get<int64_t>() : 0;
  }
};

TEST_CASE("A gang that lost a required member is not said to be whole, and its PodGroup is Unknown") {
  StandingRig rig;
  rig.AddNode("n2", 16);
  rig.AddGroup("g", 2, "q");
  const Rig::PodArgs large{.cpu = "10", .annotations = {{"scheduling.k8s.io/group-name", "g"}}};
  for (const char* pod : {"g-0", "g-1"}) rig.AddPod(pod, large);
  rig.Settle();
  REQUIRE(rig.Bound() == 2);
  rig.Run("g", 2);
  CHECK(rig.Phase("g") == "Running");
  CHECK(rig.Counter("running") == 1);

  const std::string node = rig.NodeOf("g-1");
  rig.Delete("g-1");
  REQUIRE(rig.store.Modify(sim::kNodes, "", node, [](sim::Json& it) { it["spec"]["unschedulable"] = true; }));
  rig.AddPod("g-1", large);
  rig.Pass(3'000);
  CHECK_THAT(rig.Waits("g-1"), Catch::StartsWith("Unschedulable: gang default/g has 1 of its 2 required members; 1 "
                                                 "more pod waits. Missing: 10 cpu"));
  CHECK(rig.Phase("g") == "Unknown");
  CHECK(Newest(rig.Status("g")) == "Unschedulable");
  CHECK(rig.Counter("unknown") == 1);
  CHECK(rig.Counter("running") == 0);

  REQUIRE(rig.store.Modify(sim::kNodes, "", node, [](sim::Json& it) { it["spec"]["unschedulable"] = false; }));
  rig.Pass(3'000);
  CHECK(rig.NodeOf("g-1") == node);
  CHECK(rig.Phase("g") == "Running");
  CHECK(Newest(rig.Status("g")) == "Scheduled");
  CHECK(rig.Counter("unknown") == 0);
  CHECK(rig.Counter("running") == 1);
}

TEST_CASE("A gang that lost a required member which is not replaced says so on its PodGroup, after a restart too") {
  StandingRig rig;
  rig.AddGroup("g", 2, "q");
  rig.AddMembers("g", 0, 2);
  rig.Settle();
  rig.Run("g", 2);
  rig.Delete("g-0");
  rig.Pass(500);
  CHECK(rig.Phase("g") == "Running");  // a pod that replaces it may be about to come
  rig.Pass(2'000);
  CHECK(rig.Phase("g") == "Unknown");
  CHECK_THAT(MessageOf(rig.Status("g"), "Unschedulable"), Catch::Contains("it needs 2 members, 1 of 2 exist"));
  rig.writes = 0;
  rig.Restart();
  rig.Pass(2'000);
  CHECK(rig.writes == 0);
}

TEST_CASE("Members that wait beside those that terminate start as a gang, and only they are called pending") {
  StandingRig rig;
  rig.AddGroup("g", 2, "q", {{"minResources", {{"cpu", "20"}}}});
  for (const char* pod : {"g-0", "g-1"})
    rig.AddPod(pod, {.cpu = "10", .annotations = {{"scheduling.k8s.io/group-name", "g"}}});
  rig.AddNode("n2", 16);
  rig.Settle();
  rig.Run("g", 2);
  rig.lingers = true;
  for (const char* pod : {"g-0", "g-1"}) rig.Terminate(pod);
  rig.AddPod("g-2", {.cpu = "10", .annotations = {{"scheduling.k8s.io/group-name", "g"}}});
  rig.Pass(3'000);
  CHECK_THAT(MessageOf(rig.Status("g"), "Unschedulable"), Catch::Contains("1 Pending, 2 Releasing, 2 minAvailable"));
  for (const char* pod : {"g-0", "g-1"}) rig.Delete(pod);
  rig.Pass(3'000);
  CHECK_THAT(MessageOf(rig.Status("g"), "Unschedulable"), !Catch::Contains("deleted") && !Catch::Contains("Releasing"));
  rig.Delete("g-2");
  rig.Pass(3'000);
  CHECK_THAT(MessageOf(rig.Status("g"), "Unschedulable"),
             Catch::StartsWith("0/0 tasks in gang unschedulable: pod group is not ready, 2 minAvailable."));
}

TEST_CASE("Of a PodGroup's conditions the true one is the newest, however often it is the same again") {
  StandingRig rig;
  rig.AddGroup("g", 2, "q");
  for (int i = 0; i < 3; ++i) {
    rig.AddMembers("g", 0, 1);
    rig.Pass(i == 1 ? 1'000 : 2'000);
    CHECK(Newest(rig.Status("g")) == "Unschedulable");
    rig.AddMembers("g", 1, 2);
    rig.Pass(100);
    CHECK(Newest(rig.Status("g")) == "Scheduled");
    rig.DeleteMembers("g", 0, 2);
    rig.Pass(100);
  }
  rig.writes = 0;
  rig.Pass(60'000);
  CHECK(rig.writes == 0);
}

TEST_CASE("A PodGroup that belongs to no scheduler while it has no pods is told, too, that the last one is gone") {
  StandingRig rig;
  rig.make_dialects = [] {
    dialects::DialectList dialects;
    dialects.push_back(std::make_unique<dialects::SchedulerPlugins>());
    return dialects;
  };
  rig.Restart();
  const sim::GroupResource groups{"scheduling.x-k8s.io", "podgroups"};
  REQUIRE(rig.store.Create({{"apiVersion", "scheduling.x-k8s.io/v1alpha1"},
                            {"kind", "PodGroup"},
                            {"metadata", {{"name", "g"}, {"namespace", "default"}}},
                            {"spec", {{"minMember", 2}}}}));
  const auto status = [&](const char* field) {
    return sim::Dig(*rig.store.Find(groups, "default", "g"), "status", field);
  };
  for (const char* pod : {"g-0", "g-1"}) {
    rig.AddPod(pod, {});
    REQUIRE(rig.store.Modify(sim::kPods, "default", pod,
                             [](sim::Json& it) { it["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "g"; }));
  }
  rig.Settle();
  rig.Run("g", 2);
  rig.Pass(1'000);
  CHECK(status("phase") == "Running");
  rig.lingers = true;
  for (const char* pod : {"g-0", "g-1"}) rig.Terminate(pod);
  rig.Pass(2'000);
  CHECK(status("phase") == "Running");
  for (const char* pod : {"g-0", "g-1"}) rig.Delete(pod);
  rig.Pass(10'000);
  CHECK(status("phase") == "Pending");
  CHECK(status("running").is_null());
}

}  // namespace
}  // namespace tutti::core
