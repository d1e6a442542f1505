// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <set>

#include "tests/core/rig.h"

namespace tutti::core {
namespace {

void SetLabel(Rig& rig, const std::string& pod, const std::string& key, const std::string& value) {
  REQUIRE(rig.store.Modify(sim::kPods, "default", pod,
                           [&](sim::Json& object) { object["metadata"]["labels"][key] = value; }));
}

}  // namespace

TEST_CASE("a lone pod that is bound takes no gang, and is told of as before") {
  Rig rig;
  rig.AddNode("n", 4);
  rig.AddPod("p", {});
  rig.AddPod("other", {.cpu = "8"});
  rig.Settle();
  CHECK(rig.scheduler->Holds().gangs == 1);
  const auto decisions = rig.scheduler->Decisions();
  REQUIRE(decisions.size() == 2);
  CHECK(decisions[0].gang.name == "other");
  CHECK(decisions[0].state == dialects::GangState::kWaitingForNodes);
  const observe::Decision& bound = decisions[1];
  CHECK(bound.gang.name == "p");
  CHECK(bound.state == dialects::GangState::kWhole);
  CHECK(bound.reason == "Whole");
  CHECK(bound.since_ms == rig.clock.WallMs());
  CHECK(!bound.plan.empty());
  REQUIRE(bound.members.size() == 1);
  CHECK(bound.members[0].node == "n");
  CHECK(bound.members[0].bound);

  rig.Restart();
  rig.Settle();
  CHECK(rig.scheduler->Holds().gangs == 1);
  CHECK(rig.scheduler->Decisions()[1].plan == bound.plan);
}

TEST_CASE("a lone pod that ends frees its room, and one of its name may come again") {
  Rig rig;
  rig.AddNode("n", 1);
  rig.AddPod("p", {});
  rig.AddPod("next", {});
  rig.Settle();
  const std::string first = rig.NodeOf("p").empty() ? "next" : "p", second = first == "p" ? "next" : "p";
  CHECK(rig.NodeOf(second).empty());
  rig.SetPhase(first, "Succeeded");
  rig.Settle();
  CHECK(rig.NodeOf(second) == "n");
  CHECK(rig.scheduler->Holds().gangs == 0);
  for (const observe::Decision& decision : rig.scheduler->Decisions())
    CHECK(decision.reason == (decision.members[0].name == first ? "Finished" : "Whole"));

  rig.Delete(first);
  rig.Delete(second);
  rig.Settle();
  CHECK(rig.scheduler->Decisions().empty());
  rig.AddPod(first, {});
  rig.Settle();
  CHECK(rig.NodeOf(first) == "n");
}

TEST_CASE("decisions are told in parts of some hundred, settled pods among them, and each once") {
  Rig rig;
  rig.AddNode("n", 200);
  for (int i = 0; i < 600; ++i) rig.AddPod(fmt::format("p{}", i), {.cpu = i < 100 ? "1" : "1k"});
  rig.AddGang("g", 10, 10);
  rig.Settle();
  Scheduler::DecisionsPlace place;
  std::deque<observe::Decision> records;
  std::set<model::GangKey> told;
  for (bool last = false; !last;) {
    const size_t before = records.size();
    last = rig.scheduler->AddDecisions(&place, &records);
    CHECK(records.size() - before <= 256);
  }
  for (const observe::Decision& record : records) told.insert(record.gang);
  CHECK(records.size() == 601);
  CHECK(told.size() == 601);
}

TEST_CASE("a settled pod that is put into a gang counts towards it") {
  Rig rig;
  rig.AddNode("n", 4);
  rig.AddPod("p", {});
  rig.AddPod("q", {.gang = "g", .min = "2"});
  rig.Settle();
  CHECK(rig.NodeOf("p") == "n");
  CHECK(rig.NodeOf("q").empty());
  SetLabel(rig, "p", "gang", "g");
  rig.Settle();
  CHECK(rig.scheduler->Holds().gangs == 1);
  CHECK(rig.scheduler->Decisions().size() == 1);
  CHECK(rig.NodeOf("q") == "n");
  SetLabel(rig, "p", "gang", "h");
  rig.Settle();
  CHECK(rig.scheduler->Decisions().size() == 2);
}

}  // namespace tutti::core
