// SPDX-License-Identifier: Apache-2.0
// What is said about those that wait, and when.
#include "dialects/volcano.h"
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

TEST_CASE("That a gang is being bound is told once it has lasted") {
  using dialects::GangState;
  std::vector<GangState> reports;
  Rig rig(Options::HalfBound::kRepair, &reports);
  rig.AddNode("n1", 4);
  for (int i = 0; i < 2; ++i) rig.AddPod(fmt::format("quick-{}", i), {.gang = "quick", .min = "2"});
  rig.Settle();
  CHECK(reports == std::vector{GangState::kWhole});

  reports.clear();
  rig.fate = [](const cluster::Command& command) {
    const bool bind = std::holds_alternative<cluster::Bind>(command.body);
    return sim::Fate{bind ? sim::Fate::Kind::kDrop : sim::Fate::Kind::kDeliver};
  };
  for (int i = 0; i < 2; ++i) rig.AddPod(fmt::format("slow-{}", i), {.gang = "slow", .min = "2"});
  rig.Pass(4'000);
  CHECK(reports.empty());
  rig.Pass(2'000);
  CHECK(reports == std::vector{GangState::kBinding});
}

// Has an object say that its gang is whole.
class SaysOnce final : public dialects::Dialect {
 public:
  std::string_view name() const override { return "once"; }
  const std::vector<model::ObjectKind>& Kinds() const override { return kinds_; }
  void Put(std::shared_ptr<const model::Object>, dialects::Touched*) override {}
  void Drop(std::string_view, std::string_view, std::string_view, dialects::Touched*) override {}
  std::optional<dialects::Membership> MembershipOf(const model::Pod& pod) const override {
    dialects::Membership membership;
    membership.gang = {"once", pod.meta.ns, "g"};
    return membership;
  }
  model::GangSpec Describe(const model::GangKey& key) const override {
    model::GangSpec spec;
    spec.key = key;
    return spec;
  }
  base::Millis Desire(const dialects::GangReport& report, const cluster::Unseen&,
                      std::vector<cluster::DesiredObject>* out) const override {
    if (report.state == dialects::GangState::kWhole) out->push_back(SaysSo("gangs", "Gang", "g"));
    return 0;
  }

 private:
  const std::vector<model::ObjectKind> kinds_{{"test.tutti.dev", "gangs", "Gang", {"v1"}}};
};

void Speak(Rig* rig, std::unique_ptr<dialects::Dialect> dialect) {
  Options options;
  options.profiles.push_back(plugins::DefaultProfile("tutti"));
  dialects::DialectList dialects;
  dialects.push_back(std::move(dialect));
  rig->scheduler =
      std::make_unique<Scheduler>(std::move(options), std::move(dialects), *rig->writer, rig->clock, nullptr);
  rig->feed = std::make_unique<sim::Feed>(rig->store, *rig);
  rig->feed->Start(rig->scheduler->Kinds());
}

TEST_CASE("A status that was lost is written again, though the gang's last member went before that was known") {
  Rig rig;
  rig.AddNode("n1", 4);
  Speak(&rig, std::make_unique<SaysOnce>());
  int written = 0;
  rig.fate = [&written](const cluster::Command& command) {
    const auto* patch = std::get_if<cluster::Patch>(&command.body);
    if (!patch || patch->object.resource != "gangs") return sim::Fate{};
    ++written;
    return sim::Fate{.kind = sim::Fate::Kind::kRefuse, .reply_delay_ms = 5'000};
  };
  rig.AddPod("g-0", {});
  rig.Settle();
  REQUIRE(written == 1);
  rig.Delete("g-0");
  rig.Pass(10'000);
  CHECK(written == 1);
  rig.AddPod("g-1", {});
  rig.Settle();
  CHECK(written == 2);
}

TEST_CASE("However often its gang is considered, what cannot be written about it is tried after pauses") {
  Rig rig;
  rig.AddNode("n1", 1);
  int tries = 0, least = 3, most = 5;
  const auto refuse = [&](const std::string& resource) {
    rig.fate = [&tries, resource](const cluster::Command& command) {
      const auto* patch = std::get_if<cluster::Patch>(&command.body);
      return patch && patch->object.resource == resource ? ++tries, Refused() : sim::Fate{};
    };
  };
  SECTION("a status") {
    Speak(&rig, std::make_unique<SaysOnce>());
    refuse("gangs");
    rig.AddPod("g-0", {});
    least = 1, most = 2;  // each pause is twice as long as the one before
  }
  SECTION("a reason") {
    refuse("pods");
    rig.AddPod("g-0", {.cpu = "2"});
  }
  rig.Pass(2'000);
  REQUIRE(tries > 0);
  for (int i = 0; i < 40; ++i) {
    rig.SetPhase("g-0", i % 2 == 0 ? "Unknown" : "Pending");
    rig.Pass(97);
  }
  tries = 0;
  rig.Pass(20'000);
  CHECK(tries >= least);
  CHECK(tries <= most);
}

TEST_CASE("That the kind of what is missing is served now, or no more, is said") {
  Rig rig;
  rig.AddNode("n1", 4);
  Speak(&rig, std::make_unique<dialects::Volcano>());
  rig.Settle();
  const std::string kind = "podgroups.scheduling.volcano.sh";
  rig.AddPod("p", {.annotations = {{"scheduling.k8s.io/group-name", "g"}}});
  for (const bool served : {false, true, false}) {
    rig.Post(cluster::KindSynced{kind, served});
    rig.Pass(10'000);
    CHECK_THAT(rig.Waits("p"), Catch::Contains(served ? "does not exist" : "install its CustomResourceDefinition"));
  }
}

TEST_CASE("Members that come one after another cause no word until no more come") {
  Rig rig;
  rig.AddNode("n1", 4);
  rig.CountPatches();
  for (int i = 0; i < 4; ++i) {
    rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "5"});
    rig.Pass(500);
  }
  CHECK(rig.patches == 0);
  rig.Pass(1'000);
  CHECK(rig.patches == 4);
  CHECK(rig.Waits("g-0") == "Unschedulable: gang default/g waits for members: it needs 5 members, 4 of 5 exist.");
}

TEST_CASE("The figures in a reason follow the cluster, though nothing that changed could help") {
  Rig rig;
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 2);
  rig.AddPod("large", {.cpu = "2"});
  rig.AddPod("a", {.cpu = "1"});
  rig.Settle();
  rig.AddPod("larger", {.cpu = "2"});
  rig.Settle();
  REQUIRE(rig.Waits("larger") ==
          "Unschedulable: 0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No "
          "preemption victims found for incoming pod.");
  rig.Delete("large");
  rig.Pass(60'000);
  CHECK(rig.Waits("larger").empty());
}

TEST_CASE("A figure is a second old at most, though what happened could help no gang") {
  Rig rig;
  rig.AddNode("n1", 12);
  rig.AddPod("large", {.cpu = "12"});
  rig.Settle();
  for (int i = 0; i < 4; ++i) rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "4", .cpu = "4"});
  rig.Pass(2'000);
  REQUIRE_THAT(rig.Waits("g-0"),
               Catch::Contains("0 of the 4 pods it needs fit now. Missing: 16 cpu. The cluster has 12 cpu in all"));
  rig.Delete("large");
  rig.Pass(1'000);
  for (int i = 0; i < 4; ++i)
    CHECK_THAT(rig.Waits(fmt::format("g-{}", i)), Catch::Contains("3 of the 4 pods it needs fit now. Missing: 4 cpu."));
  rig.AddNode("n2", 1);
  rig.Pass(1'000);
  CHECK_THAT(rig.Waits("g-0"), Catch::Contains("0/2 nodes are available: 2 Insufficient cpu"));
}

TEST_CASE("A figure is five seconds old at most, though hundreds of gangs wait and each for something else") {
  constexpr int kPods = 400;
  Rig rig;
  rig.AddNode("n1", 1);
  for (int i = 0; i < kPods; ++i) rig.AddPod(fmt::format("p-{}", i), {.cpu = std::to_string(20 + i)});
  rig.Pass(10'000);
  for (int round = 2; round < 5; ++round) {
    rig.AddNode(fmt::format("n{}", round), 1);
    rig.Pass(5'000);
    for (int i = 0; i < kPods; ++i)
      CHECK_THAT(rig.Waits(fmt::format("p-{}", i)), Catch::Contains(fmt::format("0/{} nodes are available", round)));
  }
}

TEST_CASE("A gang that comes when all figures were brought up to date is not told those that another left behind") {
  Rig rig;
  rig.AddNode("n1", 2);
  const Rig::PodArgs args{.cpu = "2", .gpu = 1};
  rig.AddPod("first", args);
  rig.Settle();
  REQUIRE(rig.Waits("first") ==
          "Unschedulable: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: "
          "1 Preemption is not helpful for scheduling.");
  rig.Delete("first");
  rig.AddPod("a", {.cpu = "1"});
  rig.Pass(60'000);
  rig.AddPod("second", args);
  rig.Pass(60'000);
  CHECK(rig.Waits("second") ==
        "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient nvidia.com/gpu. preemption: 0/1 "
        "nodes are available: 1 Preemption is not helpful for scheduling.");
}

TEST_CASE("The figures follow what changes while they are being brought up to date, too") {
  Rig rig;
  rig.AddNode("n1", 4);
  for (int i = 0; i < 12; ++i) rig.AddPod(fmt::format("p-{}", i), {.cpu = std::to_string(10 + i)});
  rig.Pass(5'000);
  rig.AddNode("n2", 4);
  rig.Pass(1'020);  // the first eight have had their turn
  rig.AddNode("n3", 4);
  rig.Pass(5'000);
  for (int i = 0; i < 12; ++i)
    CHECK(rig.Waits(fmt::format("p-{}", i)).find("0/3 nodes are available: 3 Insufficient cpu.") != std::string::npos);
}

TEST_CASE("The figures in a reason follow an edit of the pod itself, though nothing else happens") {
  Rig rig;
  const auto taint = [&](const std::string& node, const char* effect) {
    rig.AddNode(node, 1);
    REQUIRE(rig.store.Modify(sim::kNodes, "", node, [&](sim::Json& object) {
      object["spec"]["taints"] = {{{"key", "a"}, {"effect", effect}}};
    }));
  };
  taint("n1", "NoSchedule");
  for (const char* node : {"n2", "n3", "n4"}) taint(node, "NoExecute");
  rig.AddNode("n5", 2);
  std::string gang;
  SECTION("of one that waits alone") {}
  SECTION("of one that its gang has no place for") {
    gang = "g";
    rig.AddPod("first", {.gang = gang, .cpu = "2"});
  }
  rig.Settle();
  rig.AddPod("p", {.gang = gang, .cpu = "3"});
  rig.Pass(2'000);
  REQUIRE_THAT(rig.Waits("p"), Catch::Contains("1 Insufficient cpu, 4 node(s) had"));
  REQUIRE(rig.store.Modify(sim::kPods, "default", "p", [](sim::Json& pod) {
    pod["spec"]["tolerations"] = {{{"key", "a"}, {"operator", "Exists"}, {"effect", "NoSchedule"}}};
  }));
  rig.Pass(60'000);
  CHECK_THAT(rig.Waits("p"), Catch::Contains("2 Insufficient cpu, 3 node(s) had"));
}

TEST_CASE("The figures in a queue's reason follow what is charged to it") {
  Rig rig;
  rig.AddNode("n1", 16);
  rig.AddPod("a", {.queue = "four", .cpu = "2"});
  rig.AddPod("large", {.queue = "four", .cpu = "4"});
  rig.Settle();
  REQUIRE(rig.Waits("large") ==
          "Unschedulable: gang default/large cannot start 1 of its 1 member: queue \"four\" is full: cpu "
          "capability 4, used 2, asked 4 (short by 2).");
  rig.AddPod("b", {.queue = "four", .cpu = "1"});
  rig.Pass(60'000);
  CHECK(rig.Waits("large") ==
        "Unschedulable: gang default/large cannot start 1 of its 1 member: queue \"four\" is full: cpu capability "
        "4, used 3, asked 4 (short by 3).");
}

TEST_CASE("A gang that room came for, which others of its queue took, says that its queue is full") {
  Rig rig;
  rig.AddPriorityClass("high", 10);
  rig.AddNode("n1", 4);
  rig.AddPod("blocker", {.cpu = "3"});
  rig.Settle();
  for (const char* name : {"a", "b"}) rig.AddPod(name, {.gang = "g", .min = "2", .queue = "four", .cpu = "2"});
  rig.Settle();
  REQUIRE(rig.Waits("a").starts_with("Unschedulable: gang default/g waits: 0 of the 2 pods it needs fit now."));
  rig.Delete("blocker");
  rig.AddPod("quick", {.queue = "four", .cpu = "3", .priority_class = "high"});
  rig.Settle();
  REQUIRE(rig.NodeOf("quick") == "n1");
  CHECK(rig.Waits("a") ==
        "Unschedulable: gang default/g cannot start 2 of its 2 members: queue \"four\" is full: cpu capability 4, used "
        "3, asked 4 (short by 3).");
  // And when the queue has room again, what lacks is nodes.
  rig.Delete("quick");
  rig.AddPod("another", {.cpu = "3", .priority_class = "high"});
  rig.Settle();
  REQUIRE(rig.NodeOf("another") == "n1");
  CHECK(rig.Waits("a").starts_with("Unschedulable: gang default/g waits: 0 of the 2 pods it needs fit now."));
}

TEST_CASE("A reason that an earlier leader's last write has replaced is written again") {
  Rig rig;
  rig.AddNode("n1", 1);
  rig.AddPod("large", {.cpu = "2"});
  rig.Settle();
  const std::string reason = rig.Waits("large");
  REQUIRE_FALSE(reason.empty());
  REQUIRE(rig.store.Modify(
      sim::kPods, "default", "large",
      [](sim::Json& pod) {
        for (sim::Json& condition : pod["status"]["conditions"])
          if (condition["type"] == "PodScheduled") condition["message"] = "what was true before";
      },
      sim::Part::kStatus));
  rig.Settle();
  CHECK(rig.Waits("large") == reason);
}

TEST_CASE("A pod whose only node refused its bind says so while it waits to try again") {
  Rig rig;
  rig.AddNode("n1", 4);
  bool refuse = true;
  int tries = 0;
  rig.fate = [&](const cluster::Command& command) {
    if (refuse && std::holds_alternative<cluster::Bind>(command.body)) return ++tries, Refused();
    return sim::Fate{};
  };
  rig.AddPod("p", {});
  rig.Pass(40'000);
  CHECK(tries == 7);  // at 0, 1, 3, 7, 15, 25 and 35 s, as kube-scheduler's podInitialBackoff and podMaxBackoff have it
  CHECK(rig.Waits("p") == "Unschedulable: waits to be tried again: binding to node \"n1\" was refused: no");
  refuse = false;
  rig.Pass(10'000);
  CHECK(rig.NodeOf("p") == "n1");
}

TEST_CASE("What preemption says is brought up to date for all that wait alike, though the nodes say the same") {
  Rig rig;
  rig.AddPriorityClass("high", 10);
  rig.AddPriorityClass("middle", 5);
  for (const char* node : {"n1", "n2"}) {
    rig.AddNode(node, 4);
    rig.AddPod(std::string("full-") + node, {.cpu = "3", .priority_class = "high", .spec = {{"nodeName", node}}});
  }
  for (const char* pod : {"a", "b"}) rig.AddPod(pod, {.cpu = "2", .priority_class = "middle"});
  rig.Pass(10'000);
  const std::string nodes =
      "Unschedulable: 0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: ";
  for (const char* pod : {"a", "b"})
    REQUIRE(rig.Waits(pod) == nodes + "2 No preemption victims found for incoming pod.");
  rig.AddPod("low", {.cpu = "500m", .spec = {{"nodeName", "n1"}}});
  rig.Pass(10'000);
  for (const char* pod : {"a", "b"})
    CHECK(rig.Waits(pod) == nodes + "1 Insufficient cpu, 1 No preemption victims found for incoming pod.");
}

TEST_CASE("Of what is said about a waiting pod one write is on its way, and the last word stays") {
  Rig rig;
  rig.AddNode("n0", 1);
  int patches = 0;
  rig.fate = [&](const cluster::Command& command) {
    if (std::holds_alternative<cluster::Patch>(command.body)) return ++patches, sim::Fate{.request_delay_ms = 1'000};
    return sim::Fate{};
  };
  rig.AddPod("large", {.cpu = "8"});
  rig.Settle();
  for (int i = 1; i < 20; ++i) {
    rig.AddNode(fmt::format("n{}", i), 1);
    rig.Settle();
  }
  rig.Pass(10'000);
  CHECK(patches == 2);
  CHECK(rig.Waits("large") ==
        "Unschedulable: 0/20 nodes are available: 20 Insufficient cpu. preemption: 0/20 nodes are available: 20 "
        "Preemption is not helpful for scheduling.");
}

TEST_CASE("A reason that came back to what it was is written again, though the pod still seems to carry it") {
  Rig rig;
  rig.AddNode("n1", 4);
  rig.AddPod("large", {.cpu = "5"});
  rig.Settle();
  rig.feed->BreakWatch("pods");
  rig.AddNode("n2", 4);
  rig.Pass(10'000);
  REQUIRE(rig.Waits("large") ==
          "Unschedulable: 0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 "
          "Preemption is not helpful for scheduling.");
  rig.DeleteNode("n2");
  rig.Pass(10'000);
  rig.feed->MendWatch("pods");
  rig.Pass(10'000);
  CHECK(rig.Waits("large") ==
        "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption "
        "is not helpful for scheduling.");
}

}  // namespace
}  // namespace tutti::core
