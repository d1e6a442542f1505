// SPDX-License-Identifier: Apache-2.0
// Gangs that are declared before they have pods, and admitted before them: their members are promises until then.
#include "tests/core/declaring_rig.h"

namespace tutti::core {
namespace {

using dialects::GangState;

// A PodGroup promises the members of each role of its minTaskMember, of one cpu each, or as many as annotation "cpu"
// says. Annotation "late" names the role whose pods come after the start.
class PromisingDialect final : public DeclaringDialect {
 public:
  explicit PromisingDialect(std::map<std::string, GangState>* states)
      : DeclaringDialect("promising"), states_(states) {}
  base::Millis Desire(const dialects::GangReport& report, const cluster::Unseen&,
                      std::vector<cluster::DesiredObject>*) const override {
    (*states_)[report.spec->key.name] = report.state;
    return 0;
  }

 private:
  void Declare(const model::Object& object, const model::GangSpec&, model::GangSpec* spec) override {
    const std::string* late = model::Find(object.meta.annotations, "late");
    const std::string* cpu = model::Find(object.meta.annotations, "cpu");
    for (const auto& [role, count] : (*object.body)["spec"]["minTaskMember"].items()) {
      const auto members = count.get<int64_t>();
      spec->promised.push_back({.role = role,
                                .count = members,
                                .head = role == "head",
                                .late = late && role == *late,
                                .pod = PodOf(object.meta.ns, cpu ? *cpu : "1")});
      spec->roles.push_back({role, members});
      spec->min_member += members;
    }
  }

  std::map<std::string, GangState>* const states_;
};

struct PromiseRig : DeclaringRig {
  PromiseRig() {
    make_dialects = [this] {
      dialects::DialectList dialects;
      dialects.push_back(std::make_unique<PromisingDialect>(&states));
      return dialects;
    };
    Restart();
  }
  void Declare(const std::string& name, const sim::Json& roles, const sim::Json& annotations = sim::Json::object()) {
    PutGroup(name, {{"minTaskMember", roles}}, annotations);
  }
  // Has gang g, of two workers on a node for two, become whole.
  void StartTwoWorkers() {
    AddNode("n1", 2);
    Declare("g", {{"worker", 2}});
    Settle();
    for (const char* name : {"w0", "w1"}) AddPod(name, {.gang = "g", .role = "worker"});
    Settle();
    REQUIRE(states["g"] == GangState::kWhole);
  }
  std::map<std::string, GangState> states;  // as reported
};

TEST_CASE("A gang without pods is admitted once all that it promises has a place, and its pods take those places") {
  PromiseRig rig;
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 1);
  rig.Declare("g", {{"head", 1}, {"worker", 2}});
  rig.Settle();
  CHECK(rig.states["g"] == GangState::kAdmitted);
  rig.AddPod("other", {});  // there is room for it until the pods come, and it is not given
  rig.Pass(3'600'000);
  CHECK(rig.NodeOf("other").empty());
  CHECK(rig.states["g"] == GangState::kAdmitted);
  for (const char* name : {"w0", "w1"}) rig.AddPod(name, {.gang = "g", .role = "worker"});
  rig.Settle();
  CHECK(rig.Bound() == 0);  // the head is not there
  rig.AddPod("head", {.gang = "g", .role = "head"});
  rig.Settle();
  CHECK(rig.Bound() == 3);
  CHECK(rig.states["g"] == GangState::kWhole);
  CHECK(rig.NodeOf("other").empty());
}

TEST_CASE("A gang whose promises do not all fit holds nothing, and says what is short") {
  PromiseRig rig;
  rig.AddNode("n1", 2);
  rig.Declare("big", {{"worker", 3}});
  rig.Settle();
  CHECK(rig.states["big"] == GangState::kWaitingForNodes);
  CHECK(rig.Decision("big").reason == "NoPlacement");
  rig.AddPod("other", {});
  rig.Settle();
  CHECK(rig.NodeOf("other") == "n1");
  rig.AddNode("n2", 2);
  rig.Settle();
  CHECK(rig.states["big"] == GangState::kAdmitted);
}

TEST_CASE("What is withdrawn gives its places up") {
  PromiseRig rig;
  rig.AddNode("n1", 2);
  rig.Declare("g", {{"worker", 2}});
  rig.Settle();
  INFO(rig.Decision("g").message);
  REQUIRE(rig.states["g"] == GangState::kAdmitted);
  rig.Declare("h", {{"worker", 1}});
  rig.Settle();
  CHECK(rig.states["h"] == GangState::kWaitingForNodes);
  rig.Withdraw("g");
  rig.Settle();
  CHECK(rig.states["h"] == GangState::kAdmitted);
  CHECK(rig.Decision("g").gang.name.empty());
  rig.Withdraw("h");
  rig.Settle();
  CHECK(rig.scheduler->Holds().gangs == 0);
}

TEST_CASE("A pod that asks for more than was promised is placed again, and starts with the others") {
  PromiseRig rig;
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 2);
  rig.Declare("g", {{"worker", 2}});
  rig.Settle();
  REQUIRE(rig.states["g"] == GangState::kAdmitted);
  rig.AddPod("w0", {.gang = "g", .role = "worker", .cpu = "2"});
  rig.Settle();
  CHECK(rig.Bound() == 0);
  rig.AddPod("w1", {.gang = "g", .role = "worker", .cpu = "2"});
  rig.Settle();
  CHECK(rig.Bound() == 2);
}

TEST_CASE("A pod that comes after the start has its place from the beginning, and the start does not wait for it") {
  PromiseRig rig;
  rig.AddNode("n1", 2);
  rig.Declare("g", {{"submitter", 1}, {"worker", 1}}, {{"late", "submitter"}});
  rig.Settle();
  REQUIRE(rig.states["g"] == GangState::kAdmitted);
  rig.AddPod("w0", {.gang = "g", .role = "worker"});
  rig.Settle();
  CHECK(rig.NodeOf("w0") == "n1");
  CHECK(rig.states["g"] == GangState::kWhole);
  rig.AddPod("other", {});
  rig.Settle();
  CHECK(rig.NodeOf("other").empty());
  rig.AddPod("s", {.gang = "g", .role = "submitter"});
  rig.Settle();
  CHECK(rig.NodeOf("s") == "n1");
}

TEST_CASE("A promise whose node goes is placed again; where there is no room the whole gang waits") {
  PromiseRig rig;
  rig.AddNode("n1", 1);
  rig.AddNode("n2", 1);
  rig.Declare("g", {{"worker", 2}});
  rig.Settle();
  REQUIRE(rig.states["g"] == GangState::kAdmitted);
  rig.DeleteNode("n1");
  rig.Settle();
  CHECK(rig.states["g"] == GangState::kWaitingForNodes);
  rig.AddNode("n3", 1);
  rig.Settle();
  CHECK(rig.states["g"] == GangState::kAdmitted);
}

TEST_CASE("A gang that ran and lost all its pods is promised again") {
  PromiseRig rig;
  rig.StartTwoWorkers();
  CHECK(rig.Decision("g").members.size() == 2);
  for (const char* name : {"w0", "w1"}) rig.Delete(name);
  rig.Settle();
  CHECK(rig.states["g"] == GangState::kAdmitted);
  CHECK(rig.Decision("g").members.size() == 2);
}

TEST_CASE("A gang of which one pod has run and the other went is promised the other again, once there is room") {
  PromiseRig rig;
  rig.AddNode("n1", 2);
  rig.Declare("g", {{"head", 1}, {"worker", 1}});
  rig.Settle();
  const std::string ran = GENERATE("head", "worker");
  CAPTURE(ran);
  for (const char* name : {"head", "worker"}) rig.AddPod(name, {.gang = "g", .role = name});
  rig.Settle();
  REQUIRE(rig.states["g"] == GangState::kWhole);
  rig.SetPhase(ran, "Succeeded");
  rig.DeleteNode("n1");
  rig.Delete(ran == "head" ? "worker" : "head");
  rig.Settle();
  CHECK(rig.states["g"] == GangState::kWaitingForNodes);
  rig.AddNode("n2", 1);
  rig.Settle();
  CHECK(rig.states["g"] == GangState::kAdmitted);
  CHECK(rig.Decision("g").members.size() == 2);
}

TEST_CASE("A new leader finds a gang that has half of its pods, and holds places for the others") {
  PromiseRig rig;
  rig.AddNode("n1", 2);
  rig.Declare("g", {{"worker", 2}});
  rig.Settle();
  rig.AddPod("w0", {.gang = "g", .role = "worker"});
  rig.Settle();
  rig.Restart();
  rig.Settle();
  CHECK(rig.Bound() == 0);
  CHECK(rig.states["g"] == GangState::kAdmitted);
  rig.AddPod("w1", {.gang = "g", .role = "worker"});
  rig.Settle();
  CHECK(rig.Bound() == 2);
}

TEST_CASE("A gang that has lost a pod is promised again when a new leader sees the other go") {
  PromiseRig rig;
  rig.StartTwoWorkers();
  rig.Delete("w0");
  rig.Restart();
  rig.Settle();
  CHECK(rig.Decision("g").members.size() == 2);
  rig.Delete("w1");
  rig.Settle();
  CHECK(rig.states["g"] == GangState::kAdmitted);
  CHECK(rig.Decision("g").members.size() == 2);
}

TEST_CASE("Places that are held for pods of an earlier form are given up for those of the form that is declared") {
  PromiseRig rig;
  rig.AddNode("n1", 2);
  rig.AddNode("n2", 3);
  rig.Declare("g", {{"worker", 2}});
  rig.Settle();
  REQUIRE(rig.states["g"] == GangState::kAdmitted);
  const auto ask_for = [&rig](const char* cpu) {
    REQUIRE(rig.store.Modify(kGroups, "default", "g",
                             [&](sim::Json& group) { group["metadata"]["annotations"]["cpu"] = cpu; }));
    rig.Settle();
  };
  ask_for("3");
  CHECK(rig.states["g"] == GangState::kWaitingForNodes);
  rig.AddPod("other", {.cpu = "3"});
  rig.Settle();
  CHECK(rig.NodeOf("other") == "n2");
  ask_for("1");
  CHECK(rig.states["g"] == GangState::kAdmitted);
}

TEST_CASE("What another object of the name declares has none of the places that were held for the last one") {
  PromiseRig rig;
  rig.AddNode("n1", 2);
  rig.Declare("g", {{"worker", 2}});
  rig.Settle();
  REQUIRE(rig.states["g"] == GangState::kAdmitted);
  rig.Pass(10'000);
  rig.Declare("h", {{"worker", 2}});
  rig.Settle();
  REQUIRE(rig.states["h"] == GangState::kWaitingForNodes);
  rig.Pass(10'000);
  rig.Withdraw("g");
  rig.Declare("g", {{"worker", 2}});
  rig.Settle();
  CHECK(rig.states["h"] == GangState::kAdmitted);
  CHECK(rig.states["g"] == GangState::kWaitingForNodes);
}

// They are admitted, so their pods are to find the room. What takes room in their stead looks for it elsewhere.
TEST_CASE("Places that are held for a gang without pods are not taken by pods of higher priority, and delay none") {
  PromiseRig rig;
  rig.configure = [](Options* options) { options->gang_preemption = Options::GangPreemption::kLowerPriority; };
  rig.Restart();
  rig.AddPriorityClass("high", 100);
  rig.AddNode("n1", 2);
  rig.AddPod("low", {.cpu = "2"});
  rig.Settle();
  rig.AddNode("n2", 2);
  rig.Declare("g", {{"worker", 2}});
  rig.Settle();
  REQUIRE(rig.states["g"] == GangState::kAdmitted);
  const bool one_has_come = GENERATE(false, true);
  CAPTURE(one_has_come);
  if (one_has_come) rig.AddPod("w0", {.gang = "g", .role = "worker"});
  rig.Settle();
  rig.AddPod("high", {.cpu = "2", .priority_class = "high"});
  rig.Pass(10'000);
  CHECK(rig.NodeOf("low") == "<gone>");
  CHECK(rig.NodeOf("high") == "n1");
  rig.AddPod("another", {.cpu = "2", .priority_class = "high"});
  rig.Pass(60'000);
  CHECK(rig.NodeOf("another").empty());
  CHECK_THAT(rig.Waits("another"), Catch::Contains("0/2 nodes are available: 2 Insufficient cpu."));
  CHECK(rig.states["g"] == GangState::kAdmitted);
  for (const char* name : {"w0", "w1"})
    if (!one_has_come || name != std::string("w0")) rig.AddPod(name, {.gang = "g", .role = "worker"});
  rig.Settle();
  CHECK(rig.states["g"] == GangState::kWhole);
}

TEST_CASE("Nothing is written about a promise") {
  PromiseRig rig;
  int writes = 0;
  rig.fate = [&writes](const cluster::Command&) {
    ++writes;
    return sim::Fate{};
  };
  rig.Restart();
  rig.AddNode("n1", 1);
  rig.Declare("fits", {{"worker", 1}});
  rig.Declare("not", {{"worker", 2}});
  rig.Pass(3'600'000);
  CHECK(writes == 0);
  const observe::Decision decision = rig.Decision("fits");
  REQUIRE(decision.members.size() == 1);
  CHECK(decision.members[0].promised);
  CHECK(decision.members[0].node == "n1");
  CHECK(decision.members[0].name.empty());
}

}  // namespace
}  // namespace tutti::core
