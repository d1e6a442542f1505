// SPDX-License-Identifier: Apache-2.0
// What changed of the decisions is told by the gangs that were touched, not by all.
#include <algorithm>
#include <set>

#include "tests/core/rig.h"

namespace tutti::core {
namespace {

std::vector<std::string> Names(const std::vector<observe::Decision>& decisions) {
  std::vector<std::string> names;
  for (const observe::Decision& decision : decisions) names.push_back(decision.gang.name);
  return names;
}

TEST_CASE("of two hundred gangs, the one that changed is told, and one record is made for it") {
  Rig rig;
  rig.AddNode("n", 4);
  for (int i = 0; i < 200; ++i) rig.AddGang(fmt::format("gang-{:03}", i), 2, 2, 1);
  rig.Settle();
  const uint64_t sequence = rig.scheduler->decision_sequence(), made = rig.scheduler->Done().decisions_made;
  rig.Delete("gang-100-0");
  rig.Step();
  const auto changes = rig.scheduler->DecisionsAfter(sequence);
  REQUIRE(changes);
  CHECK(Names(changes->decisions) == std::vector<std::string>{"gang-100"});
  CHECK(changes->gone.empty());
  CHECK(rig.scheduler->Done().decisions_made == made + 1);
  const auto none = rig.scheduler->DecisionsAfter(changes->sequence);
  REQUIRE(none);
  CHECK(none->decisions.empty());
}

TEST_CASE("an answer ends before it describes more members than asked for, and the next goes on from there") {
  Rig rig;
  uint64_t sequence = rig.scheduler->decision_sequence();
  for (int i = 0; i < 10; ++i) rig.AddGang(fmt::format("g{}", i), 20, 20);
  rig.Settle();
  std::set<std::string> seen;
  for (;;) {
    const auto changes = rig.scheduler->DecisionsAfter(sequence, 50);
    REQUIRE(changes);
    CHECK(changes->decisions.size() <= 2);
    for (const std::string& name : Names(changes->decisions)) seen.insert(name);
    if (changes->sequence == sequence) break;
    sequence = changes->sequence;
  }
  CHECK(seen.size() == 10);
  CHECK(sequence == rig.scheduler->decision_sequence());
  // One that is larger is told all the same.
  const auto one = rig.scheduler->DecisionsAfter(sequence - 1, 5);
  REQUIRE(one);
  CHECK(one->decisions.size() == 1);
}

TEST_CASE("the journal's word is the list's: a reader that follows the changes has what a list shows") {
  Rig rig;
  rig.AddNode("n", 8);
  std::map<model::GangKey, dialects::GangState> followed;
  uint64_t sequence = rig.scheduler->decision_sequence();
  const auto follow = [&] {
    const auto changes = rig.scheduler->DecisionsAfter(sequence);
    REQUIRE(changes);
    for (const observe::Decision& decision : changes->decisions) followed[decision.gang] = decision.state;
    for (const model::GangKey& key : changes->gone) followed.erase(key);
    sequence = changes->sequence;
    std::map<model::GangKey, dialects::GangState> listed;
    for (const observe::Decision& decision : rig.scheduler->Decisions()) listed[decision.gang] = decision.state;
    CHECK(followed == listed);
  };
  rig.AddGang("g", 2, 2);
  rig.AddPod("lone", {});
  rig.AddPod("too-big", {.cpu = "100"});
  rig.Settle();
  follow();
  CHECK(followed.size() == 3);
  rig.SetPhase("lone", "Succeeded");  // it is settled: it has no gang any more
  rig.AddPod("bound", {.spec = {{"nodeName", "n"}}});
  rig.Settle();
  follow();
  CHECK(followed.size() == 4);
  for (const char* name : {"lone", "g-0", "g-1", "too-big"}) rig.Delete(name);
  rig.Settle();
  follow();
  CHECK(followed.size() == 1);
}

TEST_CASE("a report of a queue counts the gangs that were touched, not all that are in it") {
  std::vector<dialects::GangState> reports;
  Rig rig(Options::HalfBound::kRepair, &reports);
  rig.AddNode("n", 4);
  for (int i = 0; i < 200; ++i)
    rig.AddPod(fmt::format("pod-{:03}", i), {.gang = fmt::format("g{}", i), .min = "2", .queue = "four"});
  rig.Pass(10'000);
  const uint64_t counted = rig.scheduler->Done().gangs_counted;
  rig.AddPod("other", {.gang = "g7", .min = "2", .queue = "four"});
  rig.Pass(150);  // before the figures of those that wait are renewed
  CHECK(rig.NodeOf("other") == "n");
  const uint64_t more = rig.scheduler->Done().gangs_counted - counted;
  CHECK(more > 0);
  CHECK(more < 20);
}

}  // namespace
}  // namespace tutti::core
