// SPDX-License-Identifier: Apache-2.0
// Queues that are declared otherwise while plans are under way: what is not bound yet has to be within the limit.
#include <algorithm>
#include <set>

#include "tests/core/volcano_rig.h"

namespace tutti::core {
namespace {

// A node that is full of pods of queue "lent". Queue "owner" may take half of it back, and victims linger.
struct Lent : VolcanoRig {
  using GangPreemption = Options::GangPreemption;
  explicit Lent(GangPreemption gang_preemption = GangPreemption::kNever) {
    configure = [gang_preemption](Options* options) {
      options->queue_rule.kind = QueueRule::Kind::kCapacity;
      options->queue_rule.reclaim = true;
      options->gang_preemption = gang_preemption;
    };
    fate = [this](const cluster::Command& command) {
      const auto* patch = std::get_if<cluster::Patch>(&command.body);
      const bool records = patch && patch->body.find("tutti.dev/Preempting") != std::string::npos;
      return sim::Fate{.reply_delay_ms = records ? record_takes_ms : 0};
    };
    for (const char* name : {"lent", "owner"}) PutQueue(name, {{"deserved", {{"cpu", "8"}}}});
    AddPriorityClass("high", 100);
    Restart();
    for (const char* name : {"a", "b"}) {  // a gang that loses pods is asked for no more
      AddGroup(name, 1, "lent");
      AddMembers(name, 0, 8);
    }
    Pass(10'000);
    REQUIRE(Bound() == 16);
    lingers = true;
  }
  void AddGangOf(const std::string& name, int members, const std::string& queue, const std::string& priority = "") {
    AddGroup(name, members, queue, {{"priorityClassName", priority}});
    for (int i = 0; i < members; ++i)
      AddPod(fmt::format("{}-{}", name, i),
             {.priority_class = priority, .annotations = {{"scheduling.k8s.io/group-name", name}}});
  }
  void Redeclare(const std::string& queue, const sim::Json& changed) {
    REQUIRE(store.Modify(kQueues, "", queue, [&](sim::Json& object) { object["spec"].update(changed); }));
  }
  void SetCapability(const std::string& queue, int cpu) {
    Redeclare(queue, {{"capability", {{"cpu", std::to_string(cpu)}}},
                      {"deserved", {{"cpu", std::to_string(std::min(cpu, 8))}}}});
  }
  void LetGo() {
    lingers = false;
    Pass(30'000);
  }
  // The pods that were told that they leave, so far.
  size_t Told() {
    for (const sim::Object& pod : store.All(sim::kPods))
      if (sim::DigString(sim::ConditionOf(*pod, "DisruptionTarget"), "status") == "True")
        told_.insert(sim::NameOf(*pod));
    return told_.size();
  }
  size_t BoundOf(const std::string& gang) const {
    size_t bound = 0;
    for (const sim::Object& pod : store.All(sim::kPods))
      bound += sim::NameOf(*pod).starts_with(gang + "-") && !sim::DigString(*pod, "spec", "nodeName").empty();
    return bound;
  }

  base::Millis record_takes_ms = 0;

 private:
  std::set<std::string> told_;
};

}  // namespace

TEST_CASE("A queue that may use less by the time victims are gone starts no gang beyond that, and keeps no room") {
  Lent rig;
  rig.AddGangOf("g", 4, "owner");
  rig.Pass(5'000);
  REQUIRE(rig.Told() == 4);
  rig.SetCapability("owner", 3);
  rig.Pass(5'000);
  CHECK_THAT(rig.Waits("g-0"), Catch::Contains("queue \"owner\" is full: cpu capability 3, used 0, asked 4"));
  rig.LetGo();
  CHECK(rig.BoundOf("g") == 0);
  rig.AddGangOf("h", 4, "lent");  // which takes the room
  rig.Pass(5'000);
  CHECK(rig.BoundOf("h") == 4);
}

TEST_CASE("No pod is told to leave for a gang that its queue has no room for any more") {
  Lent rig;
  rig.record_takes_ms = 3'000;
  rig.AddGangOf("g", 4, "owner");
  rig.Pass(2'000);
  rig.SetCapability("owner", 3);
  rig.Pass(30'000);
  CHECK(rig.Told() == 0);
  rig.SetCapability("owner", 4);
  rig.Pass(10'000);
  CHECK(rig.Told() == 4);
  rig.LetGo();
  CHECK(rig.BoundOf("g") == 4);
}

TEST_CASE("A gang that moves to a queue that has too little while its victims leave does not start there") {
  Lent rig;
  rig.PutQueue("small", {{"deserved", {{"cpu", "3"}}}, {"capability", {{"cpu", "3"}}}});
  rig.AddGangOf("g", 4, "owner");
  rig.Pass(5'000);
  REQUIRE(rig.Told() == 4);
  REQUIRE(rig.store.Modify(kGroups, "default", "g", [](sim::Json& group) { group["spec"]["queue"] = "small"; }));
  rig.LetGo();
  CHECK(rig.BoundOf("g") == 0);
}

TEST_CASE("Of two gangs whose victims leave the first in line starts where their queue has room for one") {
  Lent rig;
  rig.AddGangOf("second", 4, "owner");
  rig.Pass(5'000);
  rig.AddGangOf("first", 4, "owner", "high");
  rig.Pass(5'000);
  REQUIRE(rig.Told() == 8);
  rig.SetCapability("owner", 4);
  rig.LetGo();
  CHECK(rig.BoundOf("first") == 4);
  CHECK(rig.BoundOf("second") == 0);
}

TEST_CASE("A queue that is declared otherwise and has room for a plan costs no other victims") {
  Lent rig;
  rig.AddGangOf("g", 4, "owner");
  rig.Pass(5'000);
  REQUIRE(rig.Told() == 4);
  for (const int cpu : {8, 4, 16}) {
    rig.SetCapability("owner", cpu);
    rig.Pass(5'000);
  }
  rig.LetGo();
  CHECK(rig.Told() == 4);
  CHECK(rig.BoundOf("g") == 4);
}

// Those that leave are charged to the same queue, and until they are gone it holds more than it may.
TEST_CASE("A gang keeps its victims where its queue is declared otherwise and has room once they are gone") {
  Lent rig(Options::GangPreemption::kWithinQueue);
  rig.SetCapability("lent", 16);
  rig.AddGangOf("g", 4, "lent", "high");
  rig.record_takes_ms = 3'000;
  rig.Pass(2'000);
  for (const int weight : {2, 3}) {
    rig.Redeclare("lent", {{"weight", weight}});
    rig.Pass(5'000);
  }
  CHECK(rig.Told() == 4);
  rig.LetGo();
  CHECK(rig.BoundOf("g") == 4);
}

}  // namespace tutti::core
