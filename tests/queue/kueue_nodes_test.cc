// SPDX-License-Identifier: Apache-2.0
// Admission to Kueue's queues where the nodes have their say.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/queue/kueue_desk.h"
#include "tests/support/catch.h"

namespace tutti::queue {

using model::PreemptionPolicy;

namespace {

std::string FlavorOf(const Assignment& assignment) { return assignment.roles.at(0).picks.at("gpu").flavor; }

// Two flavors, of eight gpus each; `place` says of which the nodes are full.
struct FullNodes {
  Desk desk;
  std::set<std::string> full;
  std::vector<std::string> asked;

  FullNodes() {
    desk.PutTwoFlavors(8);
    const auto why = [this](const Assignment& assignment) {
      asked.push_back(FlavorOf(assignment));
      return full.contains(FlavorOf(assignment)) ? "no node of " + FlavorOf(assignment) : std::string();
    };
    desk.admission.SetNodes(
        {[why](model::GangId, const Assignment& assignment) { return why(assignment); },
         [why](model::GangId, const Assignment& assignment, const std::vector<Victim>&) { return why(assignment); },
         {}});
  }
};

}  // namespace

TEST_CASE(
    "kueue: a flavor without nodes is passed by, and a gang that finds nodes of none says so and lets others pass") {
  FullNodes nodes;
  nodes.full = {"f"};
  nodes.desk.Wait(1, AskFor("a", 2));
  CHECK(FlavorOf(nodes.desk.Run().admitted.at(0).assignment) == "g");
  nodes.full = {"f", "g"};
  nodes.desk.Wait(2, AskFor("a", 4, 5));
  nodes.desk.Run();
  CHECK_FALSE(nodes.desk.Has(2));
  CHECK(nodes.desk.admission.LacksNodes(model::GangId(2)));
  CHECK(nodes.desk.Why(2) == "no node of g");
  CHECK_FALSE(nodes.desk.admission.any());
  nodes.full = {"f"};
  nodes.desk.Wait(3, AskFor("a", 1));
  nodes.desk.Run();
  CHECK(nodes.desk.Has(3));
  CHECK_FALSE(nodes.desk.Has(2));  // nothing has said that there may be nodes for it
  nodes.desk.admission.Retry(model::GangId(2));
  nodes.desk.Run();
  CHECK(nodes.desk.Has(2));
}

TEST_CASE("kueue: nodes are asked once of a gang that finds none, however often others are admitted") {
  FullNodes nodes;
  nodes.full = {"f", "g"};
  nodes.desk.Wait(1, AskFor("a", 2, 5));
  nodes.desk.Run();
  nodes.asked.clear();
  nodes.full.clear();
  for (uint32_t gang = 2; gang < 6; ++gang) nodes.desk.Wait(gang, AskFor("a", 1));
  nodes.desk.Run();
  CHECK(nodes.asked.size() == 4);
}

TEST_CASE("kueue: no gang has to leave for one that would find no nodes, whatever its quota") {
  FullNodes nodes;
  nodes.desk.Wait(1, AskFor("a", 8));
  nodes.desk.Wait(2, AskFor("a", 8));
  nodes.desk.Run();
  nodes.full = {"f", "g"};
  nodes.desk.Wait(3, AskFor("a", 8, 9));
  CHECK(nodes.desk.Run().evicted.empty());
  CHECK(nodes.desk.admission.LacksNodes(model::GangId(3)));
}

TEST_CASE("kueue: a search for victims asks for nodes a few times, however many may leave") {
  for (const bool fair : {false, true}) {
    KueueRules rules;
    rules.fair_sharing = fair;
    Desk desk(rules);
    model::LeafQueueSpec leaf = Leaf("a", "", Quota(300));
    leaf.preemption.within_queue = PreemptionPolicy::kLowerPriority;
    desk.Put(leaf);
    for (uint32_t gang = 0; gang < 200; ++gang) desk.Wait(gang, AskFor("a", 1, 0, gang));
    desk.Run();
    size_t asked = 0;
    int64_t gpus = 0;
    desk.admission.SetNodes(
        {[](model::GangId, const Assignment&) { return "nodes are full"; },
         [&](model::GangId, const Assignment& assignment, const std::vector<Victim>& gone) {
           ++asked;
           return 200 - std::ssize(gone) + assignment.roles.at(0).count > gpus ? "nodes are full" : "";
         },
         {}});
    gpus = 99;  // too few, also with all gone
    desk.Wait(1'000, AskFor("a", 100, 1));
    CHECK(desk.Run().evicted.empty());
    CHECK(asked <= 4);
    asked = 0;
    gpus = 280;
    desk.admission.Retry(model::GangId(1'000));
    CHECK(desk.Run().evicted.size() == 20);
    CHECK(asked <= 100);
  }
}

TEST_CASE("kueue: gangs leave for nodes where quota is enough, as few as will do, by priority") {
  Desk desk;
  model::LeafQueueSpec leaf = Leaf("a", "", Quota(50));
  leaf.preemption.within_queue = PreemptionPolicy::kLowerPriority;
  desk.Put(leaf);
  // Four gpus on nodes, whatever the quota.
  const auto why = [&](const Assignment& assignment, const std::vector<Victim>& gone) {
    int64_t used = assignment.roles.at(0).count;
    for (uint32_t gang = 1; gang < 9; ++gang)
      if (const Holding* holding = desk.admission.holding(model::GangId(gang));
          holding && std::ranges::find(gone, model::GangId(gang), &Victim::gang) == gone.end())
        used += holding->roles.at(0).count;
    return used <= 4 ? std::string() : "nodes are full";
  };
  desk.admission.SetNodes({[why](model::GangId, const Assignment& assignment) { return why(assignment, {}); },
                           [why](model::GangId, const Assignment& assignment, const std::vector<Victim>& gone) {
                             return why(assignment, gone);
                           },
                           {}});
  desk.Wait(1, AskFor("a", 2, 2));
  desk.Wait(2, AskFor("a", 2, 1));
  desk.Run();
  desk.Wait(3, AskFor("a", 2, 3));
  PassResult result = desk.Run();
  REQUIRE(result.evicted.size() == 1);
  CHECK(result.evicted[0].gang == model::GangId(2));
  CHECK(desk.Why(3) == "nodes are full. Pending the preemption of 1 workload(s)");
  CHECK(desk.Run().evicted.empty());
  desk.Forget(2);
  desk.Run();
  CHECK(desk.Has(3));
  desk.Wait(4, AskFor("a", 1, 3));        // of equal priority: it waits
  CHECK(desk.Run().evicted.size() == 1);  // the one of lower priority has to go
  desk.Wait(5, AskFor("a", 4, 0));
  CHECK(desk.Run().evicted.empty());
}

TEST_CASE("kueue: a gang lacks nodes, too, where its first flavor has quota and no nodes, and its last one no quota") {
  FullNodes nodes;
  nodes.full = {"f"};
  nodes.desk.Wait(1, AskFor("a", 6));  // of g
  nodes.desk.Run();
  REQUIRE(nodes.desk.Has(1));
  nodes.desk.Wait(2, AskFor("a", 4));
  nodes.desk.Run();
  REQUIRE_FALSE(nodes.desk.Has(2));
  CHECK(nodes.desk.admission.LacksNodes(model::GangId(2)));
  nodes.full.clear();
  nodes.desk.admission.Retry(model::GangId(2));
  nodes.desk.Run();
  CHECK(nodes.desk.Has(2));
}

TEST_CASE("kueue: when a gang goes that lacks nodes, another like it sees what it lacks itself") {
  FullNodes nodes;
  nodes.full = {"f", "g"};
  nodes.desk.Wait(1, AskFor("a", 2));
  nodes.desk.Wait(2, AskFor("a", 2));
  nodes.desk.Run();
  REQUIRE(nodes.desk.admission.LacksNodes(model::GangId(1)));
  nodes.desk.Forget(1);
  nodes.desk.Run();
  CHECK(nodes.desk.admission.LacksNodes(model::GangId(2)));
}

}  // namespace tutti::queue
