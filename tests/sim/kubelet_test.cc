// SPDX-License-Identifier: Apache-2.0
#include "sim/nodes/kubelet.h"

#include "sim/objects/lifetime.h"
#include "tests/sim/world_fixture.h"

namespace tutti::sim {
namespace {

TEST_CASE_METHOD(WorldFixture, "A new node reports in: Ready, addressed, allocatable from its capacity") {
  Apply({{"apiVersion", "v1"},
         {"kind", "Node"},
         {"metadata", {{"name", "n"}}},
         {"spec",
          {{"taints",
            {{{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}},
             {{"key", "gpu"}, {"value", "yes"}, {"effect", "NoSchedule"}}}}}},
         {"status", {{"capacity", {{"cpu", "4"}, {"memory", "8Gi"}}}}}});
  world.Pump();
  const Object node = store().Find(kNodes, "", "n");
  CHECK(DigString(*node, "status", "allocatable", "cpu") == "4");
  CHECK(DigString(*node, "status", "allocatable", "pods") == "110");
  CHECK(DigString(*node, "status", "capacity", "pods") == "110");
  CHECK(DigString(ConditionOf(*node, "Ready"), "status") == "True");
  CHECK(LabelOf(*node, "kubernetes.io/hostname") == "n");
  REQUIRE(Dig(*node, "spec", "taints").size() == 1);
  CHECK(DigString(Dig(*node, "spec", "taints")[0], "key") == "gpu");
}

TEST_CASE_METHOD(WorldFixture, "Of a node that is gone nothing is kept, whether or not a scheduler watches") {
  AddNode("n");
  const std::weak_ptr<const model::Node> decoded = world.decoded().Node(store().Find(kNodes, "", "n"));
  CHECK_FALSE(decoded.expired());
  REQUIRE(store().Delete(kNodes, "", "n"));
  world.Pump();
  CHECK(decoded.expired());
}

TEST_CASE_METHOD(WorldFixture, "A bound pod runs at once and is ready") {
  AddNode("n");
  AddPod("p", "1");
  world.Pump();
  CHECK(Phase("p") == "Pending");
  BindAll("n");
  const Object pod = Pod("p");
  CHECK(Phase("p") == "Running");
  for (const char* type : {"PodScheduled", "Initialized", "Ready", "ContainersReady"}) {
    CHECK(DigString(ConditionOf(*pod, type), "status") == "True");
  }
  CHECK_FALSE(DigString(*pod, "status", "podIP").empty());
  CHECK(DigString(*pod, "status", "hostIP") == "10.0.0.1");
  CHECK(DigString(*pod, "status", "startTime") == "2023-11-14T22:13:20Z");
  CHECK(BoolOf(Child(Dig(*pod, "status", "containerStatuses")[0], "ready")));
  CHECK(world.kubelet().UsedOn("n").Get("cpu") == 1000);
  CHECK_FALSE(world.NextDeadline());
}

TEST_CASE_METHOD(WorldFixture, "A pod that exceeds what the node has left is rejected in the kubelet's words") {
  AddNode("n", {{"cpu", "2"}, {"memory", "8Gi"}});
  AddPod("first", "1500m");
  AddPod("second", "1");
  Bind("first", "n");
  Bind("second", "n");
  world.Pump();
  CHECK(Phase("first") == "Running");
  const Object pod = Pod("second");
  CHECK(Phase("second") == "Failed");
  CHECK(DigString(*pod, "status", "reason") == "OutOfcpu");
  CHECK(DigString(*pod, "status", "message") ==
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 2000");
  CHECK(world.kubelet().UsedOn("n").Get("cpu") == 1500);
}

TEST_CASE_METHOD(WorldFixture, "What pods that run take beyond all counting is right again when they are gone") {
  AddNode("n", {{"cpu", "2"}, {"memory", "8Gi"}, {"pods", "110"}});
  for (const char* name : {"a", "b", "c"}) {
    Json pod = {
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata", {{"name", name}, {"namespace", "default"}}},
        {"spec",
         {{"nodeName", "n"},
          {"containers", {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"memory", "4Ei"}}}}}}}}}},
        {"status", {{"phase", "Running"}}}};
    REQUIRE(store().Create(std::move(pod), {.restore = true}));
  }
  world.Pump();
  CHECK(world.kubelet().UsedOn("n").Get("memory") == INT64_MAX);
  REQUIRE(store().Delete(kPods, "default", "a", {.grace_seconds = 0}));
  REQUIRE(store().Delete(kPods, "default", "b", {.grace_seconds = 0}));
  world.Pump();
  CHECK(world.kubelet().UsedOn("n").Get("memory") == int64_t{1} << 62);
}

TEST_CASE_METHOD(WorldFixture, "Extended resources and the number of pods count too") {
  AddNode("n", {{"cpu", "8"}, {"memory", "8Gi"}, {"nvidia.com/gpu", "1"}, {"pods", "2"}});
  for (const char* name : {"a", "b"}) {
    Apply({{"apiVersion", "v1"},
           {"kind", "Pod"},
           {"metadata", {{"name", name}, {"namespace", "default"}}},
           {"spec",
            {{"containers",
              {{{"name", "c"}, {"image", "i"}, {"resources", {{"limits", {{"nvidia.com/gpu", "1"}}}}}}}}}}});
    Bind(name, "n");
  }
  world.Pump();
  CHECK(DigString(*Pod("b"), "status", "reason") == "OutOfnvidia.com/gpu");
  for (const char* name : {"c", "d"}) {
    AddPod(name, "1");
    Bind(name, "n");
  }
  world.Pump();
  CHECK(Phase("c") == "Running");
  CHECK(DigString(*Pod("d"), "status", "reason") == "OutOfpods");
}

TEST_CASE_METHOD(WorldFixture, "run-for ends a pod at its time, and frees its room") {
  AddNode("n");
  AddPod("p", "1", {{kRunForAnnotation, "90s"}});
  BindAll("n");
  CHECK(world.NextDeadline() == clock.MonotonicMs() + 90'000);
  Advance(89'999);
  CHECK(Phase("p") == "Running");
  Advance(1);
  CHECK(Phase("p") == "Succeeded");
  CHECK(DigString(ConditionOf(*Pod("p"), "Ready"), "reason") == "PodCompleted");
  CHECK(world.kubelet().UsedOn("n").Get("cpu") == 0);
  CHECK_FALSE(world.NextDeadline());
}

TEST_CASE_METHOD(WorldFixture, "activeDeadlineSeconds cuts off a pod that would run for longer") {
  AddNode("n");
  AddPod("endless", "1");
  AddPod("longer", "1", {{kRunForAnnotation, "90s"}});
  AddPod("shorter", "1", {{kRunForAnnotation, "30s"}});
  for (const char* name : {"endless", "longer", "shorter"})
    REQUIRE(store().Modify(kPods, "default", name, [](Json& pod) { pod["spec"]["activeDeadlineSeconds"] = 60; }));
  BindAll("n");
  Advance(59'999);
  CHECK(Phase("endless") == "Running");
  CHECK(Phase("shorter") == "Succeeded");
  Advance(1);
  for (const char* name : {"endless", "longer"}) {
    CHECK(Phase(name) == "Failed");
    CHECK(DigString(*Pod(name), "status", "reason") == "DeadlineExceeded");
  }
}

TEST_CASE_METHOD(WorldFixture, "exit-code makes it fail instead") {
  AddNode("n");
  AddPod("p", "1", {{kRunForAnnotation, "1s"}, {kExitCodeAnnotation, "3"}});
  BindAll("n");
  Advance(1000);
  CHECK(Phase("p") == "Failed");
  CHECK(IntOf(Dig(Dig(*Pod("p"), "status", "containerStatuses")[0], "state", "terminated", "exitCode")) == 3);
}

TEST_CASE_METHOD(WorldFixture, "A deleted pod stops at once, or takes the time it says within its grace period") {
  AddNode("n");
  AddPod("quick", "1");
  AddPod("slow", "1", {{kStopAfterAnnotation, "10s"}});
  AddPod("stuck", "1", {{kStopAfterAnnotation, "1h"}});
  BindAll("n");
  for (const char* name : {"quick", "slow", "stuck"}) REQUIRE(store().Delete(kPods, "default", name));
  world.Pump();
  CHECK(Phase("quick") == "gone");
  CHECK(Phase("slow") == "Running");
  CHECK(world.kubelet().UsedOn("n").Get("cpu") == 2000);
  Advance(10'000);
  CHECK(Phase("slow") == "gone");
  CHECK(Phase("stuck") == "Running");
  Advance(20'000);
  CHECK(Phase("stuck") == "gone");
  CHECK(world.kubelet().UsedOn("n").Get("cpu") == 0);
}

struct SlowFixture : WorldFixture {
  SlowFixture() : WorldFixture(Slow()) {}
  static WorldOptions Slow() {
    WorldOptions options;
    options.kubelet.stop_ms = 2'000;
    return options;
  }
};

TEST_CASE_METHOD(SlowFixture, "Where pods are slow to stop, one that does not say takes as long") {
  AddNode("n");
  AddPod("silent", "1");
  AddPod("quick", "1", {{kStopAfterAnnotation, "0s"}});
  BindAll("n");
  for (const char* name : {"silent", "quick"}) REQUIRE(store().Delete(kPods, "default", name));
  world.Pump();
  Advance(1'999);
  CHECK(Phase("quick") == "gone");
  CHECK(Phase("silent") == "Running");
  Advance(1);
  CHECK(Phase("silent") == "gone");
}

TEST_CASE_METHOD(WorldFixture, "A pod that runs on ends when it is told to") {
  AddNode("n");
  AddPod("p", "1");
  BindAll("n");
  Advance(3'600'000);
  CHECK(Phase("p") == "Running");
  Modify(kPods, "p", [](Json& pod) { pod["metadata"]["annotations"][kRunForAnnotation] = "0s"; });
  world.Pump();
  CHECK(Phase("p") == "Succeeded");
}

TEST_CASE_METHOD(WorldFixture, "A pod bound to a node that does not exist is collected after 40 seconds") {
  AddPod("p", "1");
  Bind("p", "nowhere");
  world.Pump();
  CHECK(Phase("p") == "Pending");
  Advance(39'999);
  CHECK(Phase("p") == "Pending");
  Advance(1);
  CHECK(Phase("p") == "gone");
}

TEST_CASE_METHOD(WorldFixture, "Pods of a deleted node stay, then go; a node that comes back in time keeps them") {
  AddNode("a");
  AddNode("b");
  AddPod("on-a", "1");
  BindAll("a");
  AddPod("on-b", "1");
  BindAll("b");
  REQUIRE(store().Delete(kNodes, "", "a"));
  REQUIRE(store().Delete(kNodes, "", "b"));
  Advance(30'000);
  AddNode("b");
  Advance(10'000);
  CHECK(Phase("on-a") == "gone");
  CHECK(Phase("on-b") == "Running");
}

TEST_CASE_METHOD(WorldFixture, "A silent node is tainted and its kubelet does nothing until it is back") {
  AddNode("n");
  AddPod("p", "1");
  world.nodes().Silence("n");
  world.Pump();
  CHECK(Dig(*store().Find(kNodes, "", "n"), "spec", "taints").size() == 2);
  Bind("p", "n");
  world.Pump();
  CHECK(Phase("p") == "Pending");
  world.nodes().Revive("n");
  world.Pump();
  CHECK(Dig(*store().Find(kNodes, "", "n"), "spec", "taints").empty());
  CHECK(Phase("p") == "Running");
}

TEST_CASE("A pod that is deleted before it has started ends, where a finalizer keeps it") {
  WorldOptions options;
  options.kubelet.start_ms = 10'000;
  WorldFixture slow(options);
  slow.AddNode("n");
  slow.AddPod("p", "1");
  REQUIRE(slow.store().Modify(kPods, "default", "p", [](Json& pod) { pod["metadata"]["finalizers"] = {"x.io/f"}; }));
  slow.BindAll("n");
  CHECK(slow.Phase("p") == "Pending");
  REQUIRE(slow.store().Delete(kPods, "default", "p"));
  slow.world.Pump();
  CHECK(slow.Phase("p") == "Failed");
}

TEST_CASE("A start-up time delays Running") {
  WorldOptions options;
  options.kubelet.start_ms = 3000;
  WorldFixture f(options);
  f.AddNode("n");
  f.AddPod("p", "1");
  f.BindAll("n");
  CHECK(f.Phase("p") == "Pending");
  f.Advance(3000);
  CHECK(f.Phase("p") == "Running");
}

TEST_CASE_METHOD(WorldFixture, "A running pod of a dump is taken over, whatever the node has left") {
  AddNode("n", {{"cpu", "1"}, {"memory", "1Gi"}});
  const auto restored = store().Create(
      {{"apiVersion", "v1"},
       {"kind", "Pod"},
       {"metadata", {{"name", "p"}, {"namespace", "default"}, {"annotations", {{kRunForAnnotation, "1h"}}}}},
       {"spec",
        {{"nodeName", "n"},
         {"containers", {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", "4"}}}}}}}}}},
       {"status", {{"phase", "Running"}, {"startTime", "2023-11-14T21:43:20Z"}}}},
      {.restore = true});
  REQUIRE(restored);
  world.Pump();
  CHECK(Phase("p") == "Running");
  CHECK(world.kubelet().UsedOn("n").Get("cpu") == 4000);
  CHECK(world.NextDeadline() == clock.MonotonicMs() + 30 * 60'000);
}

}  // namespace
}  // namespace tutti::sim
