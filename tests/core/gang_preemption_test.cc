// SPDX-License-Identifier: Apache-2.0
// Gangs of higher priority take the place of others, from the search to the last bind.
#include "core/gangs/evidence.h"
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
  // So often a pod comes, stays for a while, and goes for as long.
  void ComeAndGo(int times, base::Millis stays_ms, const PodArgs& pod) {
    for (int i = 0; i < times; ++i) {
      AddPod("comes", pod);
      Pass(stays_ms);
      Delete("comes");
      Pass(stays_ms);
    }
  }
  // Pods of the gang that are bound.
  int BoundOf(const std::string& gang) const {
    int bound = 0;
    for (const sim::Object& pod : store.All(sim::kPods))
      bound += sim::NameOf(*pod).starts_with(gang + "-") && !sim::DigString(*pod, "spec", "nodeName").empty();
    return bound;
  }
};

// Two nodes with a gang on each, and one of higher priority that takes one of them. Of each gang one member waits.
struct TwoGangs : PreemptionRig {
  TwoGangs() {
    for (const char* node : {"m", "n"}) AddNode(node, 8, 2);
    for (const char* gang : {"a", "b"}) AddGang(gang, 3, 2, 1);
    Pass(5'000);
    REQUIRE(Bound() == 4);
    Evict();
    gone = BoundOf("a") == 0 ? "a" : "b";
    stays = gone == "a" ? "b" : "a";
    for (int i = 0; i < 3; ++i)  // its controller makes its pods again
      if (const std::string pod = fmt::format("{}-{}", gone, i); !store.Find(sim::kPods, "default", pod))
        AddPod(pod, {.gang = gone, .min = "2", .gpu = 1});
    Settle();
  }
  void Evict() {
    for (const char* pod : {"high-0", "high-1"})
      AddPod(pod, {.gang = "high", .min = "2", .gpu = 1, .priority_class = "high"});
    Pass(60'000);
    REQUIRE(BoundOf("high") == 2);
  }
  // The gang that was evicted starts again, and runs for a time; it still has run for less long than the other.
  void StartAgain() {
    for (const char* pod : {"high-0", "high-1"}) Delete(pod);
    Pass(300'000);
    REQUIRE(BoundOf(gone) == 2);
  }
  // What the binds of the gang that was evicted say.
  std::string Said() const {
    std::string said;
    for (const sim::Object& pod : store.All(sim::kPods))
      if (sim::NameOf(*pod).starts_with(gone + "-")) said += sim::AnnotationOf(*pod, kBindAnnotation);
    return said;
  }

  std::string gone, stays;
};

}  // namespace

TEST_CASE("A gang that was evicted before counts for more, also after a restart") {
  TwoGangs rig;
  rig.StartAgain();
  CHECK_THAT(rig.Said(), Catch::Contains("\"restarts\":1"));
  rig.Restart();
  rig.Settle();
  rig.Evict();
  CHECK(rig.BoundOf(rig.gone) == 2);
  CHECK(rig.BoundOf(rig.stays) == 0);
}

TEST_CASE("How often a gang was evicted is forgotten if the scheduler is restarted while the gang waits") {
  TwoGangs rig;
  rig.Restart();
  rig.Settle();
  rig.StartAgain();
  CHECK_THAT(rig.Said(), !Catch::Contains("restarts"));
  rig.Evict();
  CHECK(rig.BoundOf(rig.gone) == 0);
  CHECK(rig.BoundOf(rig.stays) == 2);
}

TEST_CASE("A whole gang goes for a gang of higher priority, and none for one of the same") {
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

TEST_CASE("No eviction is useless: the gang waits until those that go make room for all of it") {
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

TEST_CASE("A scheduler that dies while victims leave is followed by one that evicts no others") {
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

namespace {

struct Attempts final : observe::Observer {
  void OnPreemption(int64_t victims) override { ++(victims > 0 ? found : fruitless); }
  void OnAttempt(std::string_view, std::string_view, int64_t, double) override { ++starts; }
  int64_t found = 0, fruitless = 0, starts = 0;
};

// A spec's part: the pod must be beside one in the unit "friend".
sim::Json BesideFriend() {
  const sim::Json term = {{"labelSelector", {{"matchLabels", {{"unit", "friend"}}}}},
                          {"topologyKey", "kubernetes.io/hostname"}};
  return {{"affinity", {{"podAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", {term}}}}}}};
}

// A full node, and gangs of high priority that would fit without the pods there, were it not for an affinity to a pod
// that is nowhere. So it is not proven that no victims help them: affinities look at the pods that would go.
struct LonelyRig : PreemptionRig {
  LonelyRig() {
    Observe(&attempts);
    AddNode("m", 4, 0, {{"kubernetes.io/hostname", "m"}});
    AddGang("low", 4, 1);
    Pass(5'000);
    REQUIRE(BoundOf("low") == 4);
  }
  void AddLonely(const std::string& gang, const std::string& cpu) {
    for (const char* member : {"0", "1"})
      AddPod(fmt::format("{}-{}", gang, member),
             {.gang = gang, .min = "2", .cpu = cpu, .priority_class = "high", .spec = BesideFriend()});
  }
  // Adds so many of different shapes, and counts fruitless searches from `settled_ms` on.
  void AddManyLonely(int gangs, base::Millis settled_ms) {
    for (int i = 0; i < gangs; ++i) AddLonely(fmt::format("high-{}", i), fmt::format("{}m", 1000 + i));
    Pass(settled_ms);
    attempts.fruitless = 0;
  }
  void AddFriend() { AddPod("friend", {.unit = "friend", .cpu = "0"}); }
  Attempts attempts;
};

}  // namespace

TEST_CASE("On a quiet cluster victims of which nothing is proven are sought once a minute") {
  LonelyRig rig;
  constexpr int kGangs = 40, kMinutes = 10;
  rig.AddManyLonely(kGangs, 60'000);
  rig.Pass(kMinutes * 60'000);
  CHECK(rig.attempts.fruitless > 0);
  CHECK(rig.attempts.fruitless <= kGangs * (kMinutes + 1));
  CHECK(rig.attempts.found == 0);
  CHECK(rig.BoundOf("low") == 4);
}

TEST_CASE("Gangs of one shape cost one search for victims, and none of them is forgotten") {
  LonelyRig rig;
  constexpr int kGangs = 40, kMinutes = 10;
  for (int i = 0; i < kGangs; ++i) rig.AddLonely(fmt::format("high-{:02}", i), "1");
  rig.Pass(60'000);
  rig.attempts.fruitless = 0;
  rig.Pass(kMinutes * 60'000);
  CHECK(rig.attempts.fruitless > 0);
  CHECK(rig.attempts.fruitless <= kMinutes + 1);
  for (const char* member : {"high-00-0", "high-00-1"}) rig.Delete(member);  // that was considered for all
  rig.AddFriend();
  rig.Pass(60'000);
  CHECK(rig.BoundOf("low") == 0);
  CHECK(rig.BoundOf("high-01") == 2);
  CHECK(rig.BoundOf("high-02") == 2);
}

TEST_CASE("Beside pods of their own priority gangs that wait are not considered when some of those end") {
  PreemptionRig rig;
  Attempts attempts;
  rig.Observe(&attempts);
  rig.AddNode("m", 4);
  rig.AddGang("runs", 3, 1);
  rig.Pass(5'000);
  for (int i = 0; i < 10; ++i)
    for (int member = 0; member < 2; ++member)
      rig.AddPod(fmt::format("more-{}-{}", i, member),
                 {.gang = fmt::format("more-{}", i), .min = "2", .cpu = fmt::format("{}m", 2000 + i)});
  rig.Pass(10'000);
  attempts = {};
  rig.ComeAndGo(30, 500, {});
  CHECK(attempts.starts == 30);  // those of the pod that comes
  CHECK(attempts.fruitless == 0);
  rig.AddPriorityClass("lower", -5);
  rig.AddPod("low", {.priority_class = "lower"});
  rig.Pass(500);
  for (const char* one : {"runs-0", "runs-1", "runs-2"}) rig.Delete(one);
  rig.Pass(10'000);
  CHECK(attempts.found == 1);
}

TEST_CASE("Where no node has the amounts, a gang with an affinity is not tried before one has") {
  PreemptionRig rig;
  Attempts attempts;
  rig.Observe(&attempts);
  rig.AddNode("m", 4, 0, {{"kubernetes.io/hostname", "m"}});
  rig.AddGang("runs", 3, 1);
  rig.Pass(5'000);
  for (const char* member : {"far-0", "far-1"})
    rig.AddPod(member, {.gang = "far", .min = "2", .cpu = "1500m", .spec = BesideFriend()});
  rig.Pass(10'000);
  attempts = {};
  rig.ComeAndGo(30, 500, {});
  CHECK(attempts.starts == 30);  // those of the pod that comes
  rig.AddPod("friend", {.unit = "friend", .cpu = "0"});
  rig.Pass(1'000);
  CHECK(rig.BoundOf("far") == 0);
  for (const char* one : {"runs-0", "runs-1", "runs-2"}) rig.Delete(one);
  rig.Pass(1'000);
  CHECK(rig.BoundOf("far") == 2);
}

TEST_CASE("Where pods come and go, victims that are not found are sought in rounds") {
  LonelyRig rig;
  constexpr int kGangs = 40, kSeconds = 120;
  rig.AddManyLonely(kGangs, 10'000);
  rig.ComeAndGo(kSeconds * 4, 125, {.cpu = "0"});
  CHECK(rig.attempts.fruitless > 0);
  CHECK(rig.attempts.fruitless <= kGangs * (kSeconds / 5 + 1));
}

TEST_CASE("A gang of which one member never preempts has no pod evicted") {
  PreemptionRig rig;
  rig.AddNode("m", 2);
  rig.AddGang("runs", 2, 2);
  rig.Pass(5'000);
  for (int i = 0; i < 2; ++i)
    rig.AddPod(fmt::format("high-{}", i), {.gang = "high",
                                           .min = "2",
                                           .priority_class = "high",
                                           .spec = {{"preemptionPolicy", i == 0 ? "Never" : "PreemptLowerPriority"}}});
  rig.Pass(120'000);
  CHECK(rig.BoundOf("runs") == 2);
  CHECK(rig.BoundOf("high") == 0);
  rig.Delete("runs-0");
  rig.Delete("runs-1");
  rig.Pass(10'000);
  CHECK(rig.BoundOf("high") == 2);
}

TEST_CASE("A gang whose victims may stay after all takes members again at once") {
  PreemptionRig rig;
  rig.AddNode("n1", 8, 3);
  rig.AddGang("v", 2, 1, 1);
  rig.Settle();
  REQUIRE(rig.BoundOf("v") == 2);
  rig.fate = [](const cluster::Command& command) {
    const auto* patch = std::get_if<cluster::Patch>(&command.body);
    return patch && patch->body.find("DisruptionTarget") != std::string::npos ? Refused() : sim::Fate();
  };
  rig.AddPod("high-0", {.gang = "high", .min = "1", .gpu = 2, .priority_class = "high"});
  rig.Pass(2'000);
  rig.Restart();
  rig.Pass(2'000);
  const auto decisions = rig.scheduler->Decisions();
  const auto of_v = std::ranges::find_if(decisions, [](const observe::Decision& one) { return one.gang.name == "v"; });
  REQUIRE(of_v != decisions.end());
  CHECK(of_v->state == observe::GangState::kWhole);
  rig.AddPod("v-2", {.gang = "v", .min = "1", .gpu = 1});
  rig.Pass(2'000);
  CHECK(rig.NodeOf("v-2").empty());
  CHECK_THAT(rig.Waits("v-2"), Catch::Contains("1 more pod waits until those of its pods have left"));
  rig.Delete("high-0");
  rig.Settle();
  CHECK(rig.NodeOf("v-2") == "n1");
}

TEST_CASE("Without preemption no pod goes") {
  Rig rig;
  rig.configure = [](Options* options) { options->gang_preemption = Options::GangPreemption::kNever; };
  rig.Restart();
  rig.AddPriorityClass("high", 100);
  rig.AddNode("m", 1);
  rig.AddPod("runs", {});
  rig.Pass(2'000);
  rig.AddPod("high", {.gang = "high", .priority_class = "high"});
  rig.Pass(60'000);
  CHECK(rig.NodeOf("runs") == "m");
}

}  // namespace tutti::core
