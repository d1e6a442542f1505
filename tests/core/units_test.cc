// SPDX-License-Identifier: Apache-2.0
// Gangs of which so many parts must be whole: which parts those are, and what becomes of the rest.
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

// "g-UNIT-0" and so on, of 1 cpu each.
void AddUnit(Rig& rig, const std::string& unit, int members, int size, int min) {
  for (int i = 0; i < members; ++i)
    rig.AddPod(fmt::format("g-{}-{}", unit, i),
               {.gang = "g",
                .unit = unit,
                .annotations = {{"unit-size", std::to_string(size)}, {"unit-min", std::to_string(min)}}});
}

size_t BoundOf(const Rig& rig, const std::string& unit) {
  size_t bound = 0;
  for (const sim::Object& pod : rig.store.All(sim::kPods))
    bound += sim::NameOf(*pod).starts_with("g-" + unit + "-") && !sim::DigString(*pod, "spec", "nodeName").empty();
  return bound;
}

TEST_CASE("A gang starts when so many of its units are whole, and the others follow one unit at a time") {
  Rig rig;
  rig.AddNode("n1", 3);
  for (const char* unit : {"a", "b", "c"}) AddUnit(rig, unit, 2, 2, 2);
  rig.Settle();
  CHECK(rig.Bound() == 0);
  CHECK(rig.Waits("g-a-0") ==
        "Unschedulable: gang default/g waits: 3 of the 4 pods it needs fit now. Missing: 1 cpu. 0/1 nodes are "
        "available: 1 "
        "Insufficient cpu.");
  rig.AddNode("n2", 2);
  rig.Settle();
  CHECK(BoundOf(rig, "a") == 2);
  CHECK(BoundOf(rig, "b") == 2);
  CHECK(BoundOf(rig, "c") == 0);
  CHECK(rig.Waits("g-c-1").starts_with(
      "Unschedulable: gang default/g is whole; 2 more pods wait: 1 of 2 that start together fit now"));
  rig.AddNode("n3", 1);
  rig.Settle();
  CHECK(BoundOf(rig, "c") == 2);
}

TEST_CASE("Units of a role are asked for while all its members say which they are in, and else are not") {
  Rig rig;
  rig.AddNode("n1", 4);
  const sim::Json asked = {{"unit-size", "2"}, {"unit-min", "1"}, {"unit-role", "pairs"}};
  for (const char* unit : {"a", "b", "c"})
    rig.AddPod(fmt::format("g-{}-0", unit),
               {.gang = "g", .role = "pairs", .min = "3", .unit = unit, .annotations = asked});
  rig.AddPod("g-h", {.gang = "g", .role = "head", .min = "3", .annotations = asked});
  rig.Pass(2'000);
  CHECK(rig.Bound() == 0);  // three halves are no whole
  CHECK(rig.Waits("g-h").find("of the subgroups of units 0 of 1 have 2 members") != std::string::npos);
  SECTION("a whole one starts") {
    rig.AddPod("g-b-1", {.gang = "g", .role = "pairs", .min = "3", .unit = "b", .annotations = asked});
    rig.Settle();
    CHECK(BoundOf(rig, "b") == 2);
    CHECK(rig.NodeOf("g-h") == "n1");
    CHECK(rig.Bound() == 3);
  }
  SECTION("a pod that does not say leaves the count") {
    rig.AddPod("g-d", {.gang = "g", .role = "pairs", .min = "3", .annotations = asked});
    rig.Settle();
    CHECK(rig.Bound() >= 3);
    CHECK(rig.NodeOf("g-h") == "n1");
  }
}

TEST_CASE("A unit that lost a member after the gang was whole is filled up by itself") {
  Rig rig;
  rig.AddNode("n1", 4);
  for (const char* unit : {"a", "b"}) AddUnit(rig, unit, 2, 2, 2);
  rig.Settle();
  REQUIRE(rig.Bound() == 4);
  rig.Delete("g-a-1");
  rig.AddPod("blocker", {});
  rig.Settle();
  rig.AddPod("g-a-2", {.gang = "g", .unit = "a", .annotations = {{"unit-size", "2"}, {"unit-min", "2"}}});
  rig.Settle();
  CHECK(BoundOf(rig, "a") == 1);
  rig.Delete("blocker");
  rig.Settle();
  CHECK(BoundOf(rig, "a") == 2);
}

TEST_CASE("Units that lack members do not count, and it is said how many there are") {
  Rig rig;
  rig.AddNode("n1", 8);
  AddUnit(rig, "a", 2, 2, 2);
  AddUnit(rig, "b", 1, 2, 2);
  AddUnit(rig, "c", 1, 2, 2);
  rig.Pass(2'000);
  CHECK(rig.Bound() == 0);
  CHECK(rig.Waits("g-a-0") ==
        "Unschedulable: gang default/g waits for members: it needs 4 members (2 subgroups of 2 of units), of the "
        "subgroups of units 1 of 2 have 2 members.");
  rig.AddPod("g-c-1", {.gang = "g", .unit = "c", .annotations = {{"unit-size", "2"}, {"unit-min", "2"}}});
  rig.Settle();
  CHECK(BoundOf(rig, "a") == 2);
  CHECK(BoundOf(rig, "c") == 2);
}

TEST_CASE("Units come on top of a head, and members beyond a unit's size count towards the minimum") {
  Rig rig;
  rig.AddNode("n1", 4);
  const sim::Json asked = {{"unit-size", "1"}, {"unit-min", "2"}};
  for (const char* name : {"a-0", "a-1", "b-0"})
    rig.AddPod(name, {.gang = "g", .role = "worker", .min = "5", .unit = std::string(1, *name), .annotations = asked});
  rig.AddPod("b-1", {.gang = "g", .role = "worker", .min = "5", .unit = "b", .annotations = asked});
  rig.AddPod("h", {.gang = "g", .role = "head", .min = "5", .unit = "none", .annotations = asked});
  rig.Settle();
  CHECK(rig.Bound() == 0);
  rig.AddNode("n2", 1);
  rig.Settle();
  CHECK(rig.Bound() == 5);
}

TEST_CASE("A gang half started by a scheduler that died is finished with the units that were begun") {
  for (size_t killed_after = 1; killed_after < 4; ++killed_after) {
    Rig rig;
    rig.AddNode("n1", 4);
    for (const char* unit : {"a", "b", "c"}) AddUnit(rig, unit, 2, 2, 2);
    rig.LoseBindsAfter(killed_after);
    rig.Settle();
    REQUIRE(rig.Bound() == killed_after);
    rig.fate = nullptr;
    rig.Restart();
    rig.Pass(1'000);
    CHECK(rig.Bound() == 4);
    for (const char* unit : {"a", "b", "c"}) CHECK(BoundOf(rig, unit) % 2 == 0);
  }
}

TEST_CASE("Each unit that must be whole is in one domain, where that is asked") {
  Rig rig;
  for (const char* rack : {"r1", "r2", "r3"}) rig.AddNode(fmt::format("n-{}", rack), 3, 0, {{"rack", rack}});
  for (const char* unit : {"a", "b"})
    for (int i = 0; i < 3; ++i)
      rig.AddPod(fmt::format("g-{}-{}", unit, i), {.gang = "g",
                                                   .role = unit,
                                                   .unit = unit,
                                                   .annotations = {{"unit-size", "3"},
                                                                   {"unit-min", "2"},
                                                                   {"tutti.dev/topology-required", "rack"},
                                                                   {"tutti.dev/topology-scope", "role"}}});
  rig.Settle();
  CHECK(rig.Bound() == 6);
  for (const char* unit : {"a", "b"})
    for (int i = 1; i < 3; ++i)
      CHECK(rig.NodeOf(fmt::format("g-{}-{}", unit, i)) == rig.NodeOf(fmt::format("g-{}-0", unit)));
}

TEST_CASE("Very many units, each in one domain, are placed where they fit, and that they do not is a proof") {
  Rig rig;
  for (int rack = 0; rack < 5; ++rack)
    for (int i = 0; i < 2; ++i)
      rig.AddNode(fmt::format("n{}-{}", rack, i), 6, 0, {{"rack", fmt::format("r{}", rack)}, {"block", "b"}});
  const int units = GENERATE(20, 21);  // a rack of 12 takes 4 of 3
  for (int unit = 0; unit < units; ++unit)
    for (int i = 0; i < 3; ++i)
      rig.AddPod(fmt::format("g-{}-{}", unit, i), {.gang = "g",
                                                   .role = fmt::format("u{}", unit),
                                                   .unit = fmt::format("u{}", unit),
                                                   .annotations = {{"unit-size", "3"},
                                                                   {"unit-min", std::to_string(units)},
                                                                   {"tutti.dev/topology-required", "rack"},
                                                                   {"tutti.dev/topology-scope", "role"}}});
  rig.Settle();
  if (units == 21) {
    CHECK(rig.Bound() == 0);
    CHECK(rig.Waits("g-0-0").find("it needs 63 pods at once") != std::string::npos);
    CHECK(rig.Waits("g-0-0").find("cut short") == std::string::npos);
    return;
  }
  CHECK(rig.Bound() == 60);
  for (int unit = 0; unit < units; ++unit)
    for (int i = 1; i < 3; ++i)
      CHECK(rig.NodeOf(fmt::format("g-{}-{}", unit, i)).substr(0, 2) ==
            rig.NodeOf(fmt::format("g-{}-0", unit)).substr(0, 2));
}

}  // namespace
}  // namespace tutti::core
