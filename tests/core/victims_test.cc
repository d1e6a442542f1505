// SPDX-License-Identifier: Apache-2.0
// Victims of a plan: which pods go is recorded first, then they are evicted together, and no bind leaves before the
// last is gone; through crashes, stuck victims and nodes that go.
#include <set>

#include "cluster/state.h"
#include "core/gangs/gang.h"
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

// The message of the condition, if it holds.
std::string ConditionOn(const Rig& rig, const std::string& pod, const std::string& type) {
  const sim::Object object = rig.store.Find(sim::kPods, "default", pod);
  if (!object) return {};
  const sim::Json& condition = sim::ConditionOf(*object, type);
  return sim::DigString(condition, "status") == "True" ? sim::DigString(condition, "message") : "";
}

// Two nodes of 2 cpu, each full of two pods, of which the lower are to leave for gang "g" of two members of 2 cpu.
struct Full : Rig {
  Full() {
    configure = [this](Options* options) {
      options->choose_victims = [this](const model::GangKey& gang, const std::vector<model::PodId>&,
                                       const cluster::ClusterState& state) { return Who(gang, state); };
    };
    AddPriorityClass("high", 1000);
    AddNode("n1", 2);
    AddNode("n2", 2);
    Restart();
    for (const char* name : {"a1", "a2"}) Bind(name, "n1");
    for (const char* name : {"b1", "b2"}) Bind(name, "n2");
    lingers = true;
    Settle();
  }
  void Bind(const std::string& name, const std::string& node) {
    AddPod(name, {.spec = {{"nodeName", node}, {"schedulerName", "other"}}});
  }
  void Preemptor() {
    for (const char* name : {"g-0", "g-1"})
      AddPod(name, {.gang = "g", .min = "2", .cpu = "2", .priority_class = "high"});
  }
  std::vector<ChosenVictim> Who(const model::GangKey& gang, const cluster::ClusterState& state) {
    if (gang.name != "g") return {};
    ++asked;
    std::vector<ChosenVictim> victims;
    for (const std::string& name : chosen)
      if (const model::PodId pod = state.FindPod("default", name); pod) victims.push_back({.pod = pod});
    return victims;
  }
  // Those that were told that they go, or are on their way, or gone.
  std::set<std::string> Hit() const {
    std::set<std::string> hit;
    for (const char* name : {"a1", "a2", "b1", "b2", "c1", "c2"}) {
      const sim::Object pod = store.Find(sim::kPods, "default", name);
      if (pod && (!sim::Dig(*pod, "metadata", "deletionTimestamp").is_null() ||
                  !ConditionOn(*this, name, "DisruptionTarget").empty()))
        hit.insert(name);
    }
    return hit;
  }
  bool Recorded() const {
    return !ConditionOn(*this, "g-0", "tutti.dev/Preempting").empty() ||
           !ConditionOn(*this, "g-1", "tutti.dev/Preempting").empty();
  }
  void End(const std::set<std::string>& names) {
    for (const std::string& name : names) Delete(name);
    Settle();
  }

  std::vector<std::string> chosen{"a1", "a2", "b1", "b2"};
  int asked = 0;
};

const std::set<std::string> kAll{"a1", "a2", "b1", "b2"};

bool Evicts(const cluster::Command& command) {
  const auto* patch = std::get_if<cluster::Patch>(&command.body);
  return std::holds_alternative<cluster::Delete>(command.body) ||
         (patch && patch->body.find("DisruptionTarget") != std::string::npos);
}
bool Records(const cluster::Command& command) {
  const auto* patch = std::get_if<cluster::Patch>(&command.body);
  return patch && patch->body.find("tutti.dev/Preempting") != std::string::npos;
}

TEST_CASE("A gang is bound when its victims are gone, and not while one of them terminates") {
  Full rig;
  rig.Preemptor();
  rig.Settle();
  CHECK(rig.Hit() == kAll);
  CHECK(ConditionOn(rig, "a1", "DisruptionTarget") == "tutti: preempting to accommodate a higher priority podgroup");
  CHECK(rig.NodeOf("g-0").empty());
  CHECK(rig.Waits("g-0") ==
        "Unschedulable: gang default/g has places for its members, and waits for 4 pods to leave nodes n1, n2: "
        "default/a1, default/a2, default/b1, default/b2.");
  rig.End({"a1", "a2", "b1"});
  rig.Pass(5'000);
  CHECK(rig.NodeOf("g-0").empty());
  CHECK(rig.NodeOf("g-1").empty());
  rig.End({"b2"});
  CHECK(rig.NodeOf("g-0") != rig.NodeOf("g-1"));
  CHECK_FALSE(rig.NodeOf("g-0").empty());
  CHECK_FALSE(rig.NodeOf("g-1").empty());
}

TEST_CASE("The set of victims is recorded, and the members' nodes are said, before the first victim is told") {
  Full rig;
  bool recorded = false, early = false;
  rig.fate = [&](const cluster::Command& command) {
    early = early || (Evicts(command) && !recorded);
    if (Records(command)) return sim::Fate{.reply_delay_ms = 3'000};
    return sim::Fate{};
  };
  rig.Preemptor();
  rig.Pass(2'000);
  CHECK(rig.Hit().empty());
  recorded = true;
  rig.Pass(2'000);
  CHECK_FALSE(early);
  CHECK(rig.Hit() == kAll);
  for (const char* member : {"g-0", "g-1"})
    CHECK_FALSE(sim::DigString(*rig.store.Find(sim::kPods, "default", member), "status", "nominatedNodeName").empty());
}

TEST_CASE("The room that victims leave is for no other gang, however long they take and in whatever order they go") {
  Full rig;
  rig.Preemptor();
  rig.Settle();
  for (int i = 0; i < 4; ++i) rig.AddPod(fmt::format("small-{}", i), {});
  rig.Settle();
  for (const char* name : {"b1", "a2", "b2"}) {
    rig.End({name});
    rig.Pass(1'000);
    for (int i = 0; i < 4; ++i) CHECK(rig.NodeOf(fmt::format("small-{}", i)).empty());
  }
  rig.End({"a1"});
  rig.Pass(1'000);
  CHECK_FALSE(rig.NodeOf("g-0").empty());
  CHECK_FALSE(rig.NodeOf("g-1").empty());
}

// The scheduler dies when it has sent `most` writes of the kind, and what it sent after that is lost.
void DieAfter(Full& rig, size_t most, bool (*kind)(const cluster::Command&)) {
  rig.fate = [most, kind, sent = size_t{0}](const cluster::Command& command) mutable {
    if (kind(command)) ++sent;
    if (sent > most) return sim::Fate{.kind = sim::Fate::Kind::kDrop};
    return sim::Fate{};
  };
  rig.Preemptor();
  for (int i = 0; i < 30; ++i) rig.Step();
  rig.fate = nullptr;
}

TEST_CASE("Killed at any instant, the next leader goes on with the victims that were chosen, and never takes others") {
  Full rig;
  rig.Bind("c1", "n1");  // others that could go: a choice that is made now would take them
  rig.Bind("c2", "n2");
  const size_t writes = GENERATE(range(size_t{0}, size_t{10}));
  INFO(writes);
  DieAfter(rig, writes, [](const cluster::Command& c) { return Evicts(c) || Records(c); });
  const bool recorded = rig.Recorded();
  const std::set<std::string> before = rig.Hit();
  CHECK((before.empty() || recorded));
  rig.chosen = {"c1", "c2", "a1", "a2", "b1", "b2"};
  rig.asked = 0;
  rig.Restart();
  rig.Pass(5'000);
  if (recorded) {
    CHECK(rig.asked == 0);
    CHECK(rig.Hit() == kAll);
  }
  for (const std::string& name : rig.Hit()) rig.End({name});
  rig.Pass(5'000);
  if (recorded) CHECK(rig.NodeOf("c1") == "n1");
}

TEST_CASE("Killed when all victims are gone, and between the binds, the next leader starts the gang") {
  Full rig;
  rig.Preemptor();
  rig.Settle();
  const bool half = GENERATE(false, true);
  if (half) {
    rig.LoseBindsAfter(1);
    rig.End(kAll);
    CHECK(rig.Bound() == 1);
  } else {
    for (const std::string& name : kAll) rig.Delete(name);
  }
  rig.fate = nullptr;
  rig.asked = 0;
  rig.Restart();
  rig.Pass(30'000);
  CHECK(rig.asked == 0);
  CHECK(rig.Bound() == 2);
}

TEST_CASE("A gang that finds other room after a restart spares the victims that were not told yet") {
  Full rig;
  rig.fate = [](const cluster::Command& c) {
    return Evicts(c) ? sim::Fate{.kind = sim::Fate::Kind::kDrop} : sim::Fate{};
  };
  rig.Preemptor();
  for (int i = 0; i < 30; ++i) rig.Step();
  REQUIRE(rig.Recorded());
  rig.fate = nullptr;
  rig.AddNode("n3", 4);
  rig.Restart();
  rig.Pass(5'000);
  CHECK(rig.NodeOf("g-0") == "n3");
  CHECK(rig.NodeOf("g-1") == "n3");
  CHECK(rig.Hit().empty());
}

TEST_CASE("Victims that are not gone in time are given up, and others may go instead") {
  Full rig;
  rig.AddNode("n3", 2);
  for (const char* name : {"c1", "c2"}) rig.Bind(name, "n3");
  rig.Settle();
  rig.Preemptor();
  rig.Settle();
  REQUIRE(rig.Hit() == kAll);
  rig.End({"b1", "b2"});
  rig.Pass(300'000);
  CHECK(rig.NodeOf("g-0").empty());
  rig.chosen = {"c1", "c2"};
  rig.Pass(360'000);
  CHECK(rig.Hit() == std::set<std::string>{"a1", "a2", "c1", "c2"});
  rig.End({"c1", "c2"});
  rig.Pass(1'000);
  CHECK(std::set<std::string>{rig.NodeOf("g-0"), rig.NodeOf("g-1")} == std::set<std::string>{"n2", "n3"});
}

TEST_CASE("Victims that were not gone in time are not chosen again") {
  Full rig;
  rig.Preemptor();
  rig.Settle();
  rig.Pass(700'000);
  const int asked = rig.asked;
  CHECK(asked > 1);
  CHECK_FALSE(rig.Recorded());
  const std::string said = "It gave up waiting for 4 pods to leave: default/a1, default/a2, default/b1, default/b2.";
  CHECK(rig.Waits("g-0").find(said) != std::string::npos);
  rig.End({"a1", "a2"});
  rig.Pass(5'000);
  CHECK_FALSE(rig.Recorded());
  rig.End({"b1", "b2"});
  rig.Pass(5'000);
  CHECK(rig.NodeOf("g-0") != rig.NodeOf("g-1"));
}

TEST_CASE("A node that goes while its pods leave costs the gang its plan, and no second set of victims") {
  Full rig;
  rig.Preemptor();
  rig.Settle();
  rig.asked = 0;
  rig.DeleteNode("n2");
  rig.AddNode("n4", 2);
  rig.Settle();
  CHECK(rig.asked == 0);
  rig.End({"a1", "a2", "b1", "b2"});
  rig.Pass(2'000);
  CHECK(std::set<std::string>{rig.NodeOf("g-0"), rig.NodeOf("g-1")} == std::set<std::string>{"n1", "n4"});
}

TEST_CASE("A preemptor that is deleted while its victims leave lets go of them") {
  Full rig;
  rig.Preemptor();
  rig.Settle();
  rig.Delete("g-0");
  rig.Delete("g-1");
  rig.Settle();
  for (int i = 0; i < 4; ++i) rig.AddPod(fmt::format("small-{}", i), {});
  rig.End(kAll);
  rig.Pass(1'000);
  CHECK(rig.Bound() == 4);
}

// A record is written on g-0 by which all pods are to leave for its gang. `uid`: of the pod that the record says it is
// on.
void Forge(Full& rig, const std::string& uid, const std::string& cause) {
  std::vector<std::string> victims;
  for (const std::string& name : kAll)
    victims.push_back(fmt::format("\"{}\"", sim::UidOf(*rig.store.Find(sim::kPods, "default", name))));
  const std::string record =
      fmt::format(R"({{"plan":"x-1","uid":"{}","{}":[{}]}})", uid, cause, fmt::join(victims, ","));
  REQUIRE(rig.store.Modify(
      sim::kPods, "default", "g-0",
      [&](sim::Json& pod) {
        pod["status"]["conditions"].push_back(
            {{"type", "tutti.dev/Preempting"}, {"status", "True"}, {"message", record}});
      },
      sim::Part::kStatus));
}

TEST_CASE("A record that was copied from another pod counts for nothing") {
  Full rig;
  rig.chosen.clear();
  rig.Preemptor();
  Forge(rig, "another", "preempt");
  rig.Pass(5'000);
  CHECK(rig.Hit().empty());
  CHECK_FALSE(rig.Recorded());  // it is taken back
}

TEST_CASE("A forged record evicts no pod that never goes") {
  Full rig;
  rig.chosen.clear();
  const auto keep = [](sim::Json& pod) { pod["metadata"]["annotations"]["volcano.sh/preemptable"] = "false"; };
  for (const std::string& name : kAll) REQUIRE(rig.store.Modify(sim::kPods, "default", name, keep));
  rig.Preemptor();
  Forge(rig, sim::UidOf(*rig.store.Find(sim::kPods, "default", "g-0")), "preempt");
  rig.Pass(5'000);
  CHECK(rig.Hit().empty());
  CHECK_FALSE(rig.Recorded());
}

TEST_CASE("A record that is forged to the letter evicts no pod that the gang may not have evicted") {
  Full rig;
  rig.chosen.clear();
  const std::string cause = GENERATE("preempt", "reclaim");
  for (const char* name : {"g-0", "g-1"}) rig.AddPod(name, {.gang = "g", .min = "2", .cpu = "2"});  // no priority
  Forge(rig, sim::UidOf(*rig.store.Find(sim::kPods, "default", "g-0")), cause);
  rig.Pass(5'000);
  CHECK(rig.Hit().empty());
  CHECK_FALSE(rig.Recorded());
}

}  // namespace
}  // namespace tutti::core
