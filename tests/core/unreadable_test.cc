// SPDX-License-Identifier: Apache-2.0
// A kind that cannot be listed, such as one whose conversion webhook is down: what waits for it, and what does not.
#include "tests/core/volcano_rig.h"

namespace tutti::core {
namespace {

const std::string kPodGroups = "podgroups.scheduling.volcano.sh";

// Whose API server cannot list the kind `unreadable`, until Mend.
struct BlindRig : VolcanoRig {
  explicit BlindRig(std::string kind) : unreadable(std::move(kind)) {
    make_dialects = [] { return dialects::MakeDialects(); };
  }
  void Post(cluster::FeedEvent event) override {
    const auto* synced = std::get_if<cluster::KindSynced>(&event);
    const auto* changed = std::get_if<cluster::ObjectChanged>(&event);
    if (synced && synced->kind_name == unreadable) {
      Rig::Post(cluster::KindUnreadable{unreadable, "conversion webhook failed"});
    } else if (!changed || changed->object->resource + "." + changed->object->group != unreadable) {
      return Rig::Post(std::move(event));
    }
    listed.push_back(std::move(event));
  }
  void Mend() {
    unreadable.clear();
    for (cluster::FeedEvent& event : std::exchange(listed, {})) Rig::Post(std::move(event));
  }

  std::string unreadable;
  std::vector<cluster::FeedEvent> listed;  // once it can be
};

TEST_CASE("While a kind cannot be listed its gangs wait and say so, and all other pods are scheduled") {
  BlindRig rig(GENERATE(as<std::string>{}, kPodGroups, "queues.scheduling.volcano.sh"));
  rig.Restart();
  rig.AddGroup("g", 2);
  rig.AddQueue("default", 4);
  rig.AddMembers("g", 0, 2);
  rig.AddPod("plain", {});
  rig.Pass(2'000);
  CHECK(rig.scheduler->synced());
  CHECK(rig.NodeOf("plain") == "n1");
  CHECK(rig.Bound() == 1);
  CHECK_THAT(rig.Waits("g-0"), Catch::Contains(rig.unreadable + " cannot be listed: conversion webhook failed"));
  CHECK(rig.writes == 0);
  rig.Mend();
  rig.Pass(2'000);
  CHECK(rig.Bound() == 3);
  CHECK(rig.Phase("g") == "Running");
}

TEST_CASE("What an earlier leader left half done of a kind that cannot be listed stays as it is until it can") {
  BlindRig rig("");
  rig.Restart();
  rig.AddGroup("g", 3);
  rig.AddQueue("default", 4);
  rig.LoseBindsAfter(1);
  rig.AddMembers("g", 0, 3);
  for (int i = 0; i < 20 && rig.Bound() == 0; ++i) rig.Step();
  REQUIRE(rig.Bound() == 1);
  rig.fate = nullptr;
  rig.unreadable = kPodGroups;
  rig.Restart();
  rig.AddPod("plain", {});
  rig.Pass(600'000);
  CHECK(rig.NodeOf("plain") == "n1");
  CHECK(rig.Bound() == 2);
  rig.Mend();
  rig.Pass(2'000);
  CHECK(rig.Bound() == 4);
}

TEST_CASE("No pod of a gang whose kind cannot be listed is evicted for another") {
  BlindRig rig("");
  rig.Restart();
  rig.AddGroup("g", 1);
  rig.AddQueue("default", 16);
  for (const char* name : {"g-0", "g-1"})
    rig.AddPod(name, {.cpu = "8", .annotations = {{"scheduling.k8s.io/group-name", "g"}}});
  rig.Pass(2'000);
  REQUIRE(rig.Bound() == 2);
  rig.unreadable = kPodGroups;
  rig.Restart();
  rig.AddPriorityClass("high", 1'000);
  rig.AddPod("urgent", {.cpu = "8", .priority_class = "high"});
  rig.Pass(30'000);
  CHECK(rig.Bound() == 2);
  CHECK(!rig.Waits("urgent").empty());
  rig.Mend();
  rig.Pass(30'000);
  CHECK(rig.NodeOf("urgent") == "n1");
}

TEST_CASE("A pod that names a queue of a kind that cannot be listed is not scheduled as if it named none") {
  BlindRig rig("workloads.kueue.x-k8s.io");
  rig.AddPod("queued", {});
  REQUIRE(rig.store.Modify(sim::kPods, "default", "queued", [](sim::Json& pod) {
    pod["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "q";
    pod["metadata"]["labels"]["kueue.x-k8s.io/managed"] = "true";
  }));
  rig.AddPod("plain", {});
  rig.Restart();
  rig.Pass(2'000);
  CHECK(rig.NodeOf("plain") == "n1");
  CHECK(rig.NodeOf("queued").empty());
}

TEST_CASE("Nothing is scheduled before what every pod may need is listed, and the kind that fails is named") {
  BlindRig rig("persistentvolumes");
  rig.Restart();
  rig.AddPod("plain", {});
  rig.Pass(600'000);
  CHECK(rig.Bound() == 0);
  CHECK_FALSE(rig.scheduler->synced());
  CHECK(rig.scheduler->WhyNotSynced() == "not listed yet: persistentvolumes (conversion webhook failed)");
  rig.Mend();
  rig.Pass(2'000);
  CHECK(rig.Bound() == 1);
  CHECK(rig.scheduler->WhyNotSynced().empty());
}

}  // namespace
}  // namespace tutti::core
