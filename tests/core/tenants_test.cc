// SPDX-License-Identifier: Apache-2.0
// docs/threat-model.md: what a user who may write pods' annotations can make of the scheduler's own.
#include "core/gangs/evidence.h"
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

void Annotate(Rig& rig, const std::string& pod, const std::string& value) {
  REQUIRE(rig.store.Modify(sim::kPods, "default", pod, [&](sim::Json& it) {
    it["metadata"]["annotations"][std::string(kBindAnnotation)] = value;
  }));
}
std::string UidOf(const Rig& rig, const std::string& pod) {
  return sim::UidOf(*rig.store.Find(sim::kPods, "default", pod));
}

// A gang of 3 that runs, and one of 2. Another writer has bound one of the two.
struct World {
  World() {
    rig.AddNode("n1", 8);
    for (int i = 0; i < 3; ++i) rig.AddPod(fmt::format("victim-{}", i), {.gang = "victim", .min = "3"});
    rig.Settle();
    REQUIRE(rig.Bound() == 3);
    rig.AddNode("n2", 1);
    rig.AddPod("forger-0", {.gang = "forger", .min = "2", .spec = {{"nodeName", "n2"}}});
    rig.AddPod("forger-1", {.gang = "forger", .min = "2", .cpu = "100"});
  }
  // A restarted scheduler, for long enough that what is half done is undone.
  void Restart() {
    rig.Restart();
    rig.fate = [this](const cluster::Command& command) {
      if (const auto* gone = std::get_if<cluster::Delete>(&command.body)) deleted.push_back(gone->object.name());
      return sim::Fate{};
    };
    rig.Pass(300'000);
  }
  Rig rig;
  std::vector<std::string> deleted;
};

TEST_CASE("Evidence that names another gang's member as its last touches no pods") {
  World world;
  Annotate(world.rig, "forger-0",
           WriteEvidence("plan", UidOf(world.rig, "forger-0"), "n2", UidOf(world.rig, "victim-1")));
  world.Restart();
  CHECK(world.deleted.empty());
  CHECK(world.rig.Bound() == 4);
}

TEST_CASE("Evidence forged to the letter undoes the forger's own gang, and no other") {
  World world;
  Annotate(world.rig, "forger-0",
           WriteEvidence("plan", UidOf(world.rig, "forger-0"), "n2", UidOf(world.rig, "forger-1")));
  world.Restart();
  CHECK(world.deleted == std::vector<std::string>{"forger-0"});
  for (int i = 0; i < 3; ++i) CHECK(world.rig.NodeOf(fmt::format("victim-{}", i)) == "n1");
}

TEST_CASE("A name that may hold anything is cut between its characters, in an eviction's reason too") {
  for (const std::string before : {"", "a", "ab"}) {
    std::string role = before;
    for (int i = 0; i < 200; ++i) role += "\u00e9\n";
    Rig rig;
    rig.AddNode("n2", 1);
    const sim::Json annotations = {{"role", role}};
    rig.AddPod("p-0", {.gang = "g", .min = "2", .annotations = annotations, .spec = {{"nodeName", "n2"}}});
    rig.AddPod("p-1", {.gang = "g", .min = "2", .cpu = "100", .annotations = annotations});
    Annotate(rig, "p-0", WriteEvidence("plan", UidOf(rig, "p-0"), "n2", UidOf(rig, "p-1")));
    rig.Restart();
    std::string evicted;
    rig.fate = [&](const cluster::Command& command) {
      if (const auto* patch = std::get_if<cluster::Patch>(&command.body);
          patch && command.lane == cluster::Lane::kEvict)
        evicted = patch->body;
      return sim::Fate{};
    };
    rig.Pass(300'000);
    CHECK(base::Json::accept(evicted));
    CHECK(evicted.find("\\n") == std::string::npos);
    CHECK(rig.NodeOf("p-0") == "<gone>");
  }
}

TEST_CASE("A victim's plan and members, written on a forger's pod, say nothing of the victim") {
  World world;
  const std::string stolen =
      sim::AnnotationOf(*world.rig.store.Find(sim::kPods, "default", "victim-0"), "tutti.dev/bind");
  REQUIRE_FALSE(stolen.empty());
  Annotate(world.rig, "forger-0", stolen);
  Annotate(world.rig, "forger-1", stolen);
  world.Restart();
  CHECK(world.deleted.empty());
  for (int i = 0; i < 3; ++i) CHECK(world.rig.NodeOf(fmt::format("victim-{}", i)) == "n1");
}

TEST_CASE("No value of the annotation does harm") {
  for (const std::string& value :
       {std::string("{}"), std::string("null"), std::string("["), std::string(100'000, '['),
        std::string("{\"commit\":7}"), std::string(R"({"commit":"x","uid":{},"node":[],"plan":null})"),
        std::string("\xff\xfe"), std::string(200'000, 'x')}) {
    World world;
    Annotate(world.rig, "forger-0", value);
    Annotate(world.rig, "victim-0", value);
    world.Restart();
    CHECK(world.deleted.empty());
    CHECK(world.rig.Bound() == 4);
  }
}

TEST_CASE("A pod that comes back from a backup, with its annotation and its node's name, is a pod like others") {
  Rig rig;
  rig.AddNode("n1", 8);
  for (int i = 0; i < 2; ++i) rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "2"});
  rig.Settle();
  REQUIRE(rig.Bound() == 2);
  const std::string saved = sim::AnnotationOf(*rig.store.Find(sim::kPods, "default", "g-0"), "tutti.dev/bind");
  for (int i = 0; i < 2; ++i) rig.Delete(fmt::format("g-{}", i));
  rig.Settle();
  for (int i = 0; i < 2; ++i)
    rig.AddPod(fmt::format("g-{}", i), {.gang = "g", .min = "2", .annotations = {{"tutti.dev/bind", saved}}});
  rig.Restart();
  rig.Pass(120'000);
  CHECK(rig.Bound() == 2);
  CHECK(sim::AnnotationOf(*rig.store.Find(sim::kPods, "default", "g-0"), "tutti.dev/bind") != saved);
}

}  // namespace
}  // namespace tutti::core
