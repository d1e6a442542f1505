// SPDX-License-Identifier: Apache-2.0
// What would become of gangs that are not there, and that nothing comes of the question.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tests/core/questions.h"

namespace tutti::core {
namespace {

using model::GangDraft;
using observe::Outlook;
using observe::Prospect;
using Verdict = Prospect::Verdict;

// Gangs as another scheduler has them that knows no node.
std::vector<GangDraft> Drafted(const std::function<void(Rig&)>& add) {
  Rig other;
  other.AddPriorityClass("high", 100);
  add(other);
  other.Settle();
  return other.scheduler->Drafts();
}

std::string Places(const Prospect& prospect) {
  std::string text;
  for (const Prospect::Place& it : prospect.places)
    text += fmt::format("{}{}:{}x{}", text.empty() ? "" : " ", it.role, it.node, it.pods);
  return text;
}

std::string Victims(const Prospect& prospect) {
  std::string text;
  for (const Prospect::Victim& it : prospect.victims)
    text += fmt::format("{}{}@{} of {}", text.empty() ? "" : " ", it.pod, it.node, it.gang);
  return text;
}

TEST_CASE("a gang that fits is said to fit, where, and nothing comes of it") {
  Rig rig;
  rig.AddNode("a", 2);
  rig.AddNode("b", 2);
  const Outlook outlook = Asked(rig, Drafted([](Rig& other) { other.AddGang("g", 3, 3); }));
  REQUIRE(outlook.prospects.size() == 1);
  const Prospect& it = outlook.prospects.front();
  CHECK(it.verdict == Verdict::kFits);
  CHECK(it.gang == model::GangKey{"label", "default", "g"});
  CHECK(it.members == 3);
  CHECK(!it.why);
  CHECK((Places(it) == ":ax2 :bx1" || Places(it) == ":ax1 :bx2"));
  CHECK(rig.Bound() == 0);
}

TEST_CASE("each gang of a question finds what those before it have left, and those of higher priority come first") {
  Rig rig;
  rig.AddNode("a", 4);
  const Outlook outlook = Asked(rig, Drafted([](Rig& other) {
                                  other.AddPod("low", {.cpu = "3"});
                                  other.AddPod("high", {.cpu = "3", .priority_class = "high"});
                                }));
  REQUIRE(outlook.prospects.size() == 2);
  CHECK(outlook.prospects[0].gang.name == "high");
  CHECK(outlook.prospects[0].verdict == Verdict::kFits);
  CHECK(outlook.prospects[1].verdict == Verdict::kWaitsForNodes);
  CHECK(outlook.prospects[1].why);
}

TEST_CASE("a gang of the name of one that is there is asked about beside it") {
  Rig rig;
  rig.AddNode("a", 4);
  rig.AddGang("g", 2, 2);
  const Outlook outlook = Asked(rig, Drafted([](Rig& other) { other.AddGang("g", 2, 2); }));
  CHECK(outlook.prospects.front().verdict == Verdict::kFits);
  const Outlook again = Asked(rig, Drafted([](Rig& other) { other.AddGang("g", 3, 3); }));
  CHECK(again.prospects.front().verdict == Verdict::kWaitsForNodes);
  CHECK(again.prospects.front().message.find("gang default/g") != std::string::npos);
}

TEST_CASE("what the nodes could not hold even if they were empty can never start") {
  Rig rig;
  rig.AddNode("a", 2);
  rig.AddNode("b", 2);
  rig.AddGang("held", 3, 3);
  const auto verdict = [&](const std::function<void(Rig&)>& add) {
    return Asked(rig, Drafted(add)).prospects.front().verdict;
  };
  CHECK(verdict([](Rig& other) { other.AddGang("g", 4, 4); }) == Verdict::kWaitsForNodes);
  CHECK(verdict([](Rig& other) { other.AddGang("g", 5, 5); }) == Verdict::kNever);
  CHECK(verdict([](Rig& other) { other.AddPod("g", {.cpu = "3"}); }) == Verdict::kNever);
  const sim::Json problem = {{"problem", "it is wrong"}};
  CHECK(verdict([&](Rig& other) { other.AddPod("g", {.annotations = problem}); }) == Verdict::kNever);
}

TEST_CASE("a gang that lacks members, or room in its queue, is said to") {
  Rig rig;
  rig.AddNode("a", 64);
  const auto look = [&](int members, int min, const std::string& queue) {
    return Asked(rig, Drafted([&](Rig& other) {
                   for (int i = 0; i < members; ++i)
                     other.AddPod(fmt::format("g-{}", i),
                                  {.gang = "g", .min = std::to_string(min), .queue = queue});
                 }))
        .prospects.front();
  };
  CHECK(look(2, 3, "").verdict == Verdict::kWaitsForMembers);
  CHECK(look(4, 4, "four").verdict == Verdict::kFits);
  CHECK(look(5, 5, "four").verdict == Verdict::kNever);
  rig.AddPod("first", {.queue = "four"});
  const Prospect waits = look(4, 4, "four");
  CHECK(waits.verdict == Verdict::kWaitsForQueue);
  CHECK(waits.queue == "four");
  CHECK(waits.message.find("four") != std::string::npos);
  CHECK(look(1, 1, "nowhere").verdict == Verdict::kWaitsForQueue);
}

TEST_CASE("a gang whose minResources are more than the nodes have does not fit") {
  Rig rig;
  rig.AddNode("a", 4);
  std::vector<GangDraft> drafts = Drafted([](Rig& other) { other.AddGang("g", 2, 2); });
  drafts.front().spec.min_resources.emplace().Set("cpu", 100'000);
  const Prospect it = Asked(rig, drafts).prospects.front();
  CHECK(it.verdict == Verdict::kWaitsForNodes);
  CHECK(it.message.find("minResources") != std::string::npos);
}

TEST_CASE("no victims are told for a lone pod that its queue does not take") {
  Rig rig;
  rig.AddNode("a", 4);
  rig.AddPod("first", {.queue = "four", .cpu = "3"});
  rig.AddPod("low", {.cpu = "1"});
  std::vector<GangDraft> drafts = Drafted([](Rig& other) {
    other.AddPod("high", {.queue = "four", .cpu = "2", .priority_class = "high"});
  });
  drafts.front().lone = true;
  const Prospect it = Asked(rig, drafts).prospects.front();
  CHECK(it.verdict == Verdict::kWaitsForQueue);
  CHECK(it.victims.empty());
}

TEST_CASE("gangs of one question share what their queue has") {
  Rig rig;
  rig.AddNode("a", 64);
  const Outlook outlook = Asked(rig, Drafted([](Rig& other) {
                                  for (const char* gang : {"g", "h"})
                                    for (int i = 0; i < 3; ++i)
                                      other.AddPod(fmt::format("{}-{}", gang, i),
                                                   {.gang = gang, .min = "3", .queue = "four"});
                                }));
  REQUIRE(outlook.prospects.size() == 2);
  CHECK(outlook.prospects[0].verdict == Verdict::kFits);
  CHECK(outlook.prospects[1].verdict == Verdict::kWaitsForQueue);
}

TEST_CASE("the pods that would leave for a gang are named, and stay") {
  Rig rig;
  rig.AddNode("a", 2);
  rig.AddNode("b", 2);
  rig.AddGang("low", 2, 2);
  rig.AddPod("lone", {.cpu = "2"});
  const Outlook outlook = Asked(rig, Drafted([](Rig& other) {
                                  for (int i = 0; i < 2; ++i)
                                    other.AddPod(fmt::format("high-{}", i),
                                                 {.gang = "high", .min = "2", .cpu = "2", .priority_class = "high"});
                                  for (int i = 0; i < 2; ++i)
                                    other.AddPod(fmt::format("next-{}", i), {.gang = "next", .min = "2"});
                                }));
  const Prospect& high = outlook.prospects.front();
  CHECK(high.verdict == Verdict::kNeedsVictims);
  CHECK(high.places.size() == 2);
  CHECK(high.victims.size() == 3);
  CHECK(Victims(high).find("lone@") != std::string::npos);
  CHECK(Victims(high).find("of low") != std::string::npos);
  CHECK(outlook.prospects[1].verdict == Verdict::kWaitsForNodes);
  CHECK(!outlook.prospects[1].notes.empty());
  CHECK(rig.Bound() == 3);
}

TEST_CASE("a lone pod has its victims by kube-scheduler's rules") {
  Rig rig;
  rig.AddNode("a", 2);
  rig.AddPod("low", {.cpu = "2"});
  const Outlook outlook =
      Asked(rig, Drafted([](Rig& other) { other.AddPod("high", {.cpu = "2", .priority_class = "high"}); }));
  const Prospect& high = outlook.prospects.front();
  CHECK(high.verdict == Verdict::kNeedsVictims);
  CHECK(Victims(high) == "low@a of low");
  CHECK(Places(high) == ":ax1");
}

TEST_CASE("the members of gangs on a node that is drained find other nodes, or wait") {
  Rig rig;
  rig.AddNode("a", 2);
  rig.AddGang("g", 2, 2);
  rig.Settle();
  rig.AddNode("b", 1);
  rig.AddPod("lone", {});
  rig.Settle();
  REQUIRE(rig.NodeOf("g-0") == "a");
  REQUIRE(rig.NodeOf("lone") == "b");
  const std::string before = WholeStateOf(rig);
  CHECK(!rig.scheduler->Rehearse({.gangs = {}, .drained = "nowhere"}));
  const auto blocked = rig.scheduler->Rehearse({.gangs = {}, .drained = "a"});
  REQUIRE(blocked);
  REQUIRE(blocked->prospects.size() == 1);
  CHECK(blocked->prospects.front().gang.name == "g");
  CHECK(blocked->prospects.front().breaks);
  CHECK(blocked->prospects.front().verdict != Verdict::kFits);
  CHECK(WholeStateOf(rig) == before);
  rig.AddNode("c", 3);
  rig.Settle();
  const auto moved = rig.scheduler->Rehearse({.gangs = {}, .drained = "a"});
  CHECK(moved->prospects.front().verdict == Verdict::kFits);
  CHECK(Places(moved->prospects.front()) == ":cx2");
  const auto lone = rig.scheduler->Rehearse({.gangs = {}, .drained = "b"});
  REQUIRE(lone->prospects.size() == 1);
  CHECK(lone->prospects.front().gang.name == "lone");
  CHECK(Places(lone->prospects.front()) == ":cx1");
}

TEST_CASE("what leaves a drained node already needs no new place") {
  Rig rig;
  rig.lingers = true;
  rig.AddNode("a", 2);
  rig.AddGang("g", 2, 2);
  rig.Settle();
  rig.AddNode("b", 1);
  REQUIRE(rig.store.Delete(sim::kPods, "default", "g-0", {.grace_seconds = 30}));
  rig.Settle();
  const auto outlook = rig.scheduler->Rehearse({.gangs = {}, .drained = "a"});
  REQUIRE(outlook);
  REQUIRE(outlook->prospects.size() == 1);
  CHECK(outlook->prospects.front().members == 1);
  CHECK(outlook->prospects.front().verdict == Verdict::kFits);
}

TEST_CASE("pods of many classes cost a question more than pods of one") {
  const auto looked_at = [](int classes) {
    Rig rig;
    for (int i = 0; i < 1'000; ++i) rig.AddNode(fmt::format("n-{}", i), 4);
    const Outlook outlook = Asked(rig, Drafted([&](Rig& other) {
                                    for (int i = 0; i < 200; ++i)
                                      other.AddPod(fmt::format("p-{}", i), {.cpu = fmt::format("{}m", 1 + i % classes)});
                                  }));
    return std::ranges::count(outlook.prospects, Verdict::kFits, &Prospect::verdict);
  };
  CHECK(looked_at(1) == 200);
  CHECK(looked_at(200) < 150);
}

TEST_CASE("of a question that is too large the last gangs are not looked at") {
  Rig rig;
  rig.AddNode("a", 110);
  const Outlook outlook = Asked(rig, Drafted([](Rig& other) {
                                  for (int i = 0; i < 2'100; ++i) other.AddPod(fmt::format("p-{}", i), {});
                                  other.AddPod("high", {.priority_class = "high"});
                                }));
  REQUIRE(outlook.prospects.size() == 2'101);
  CHECK(outlook.prospects.front().gang.name == "high");
  CHECK(outlook.prospects.front().verdict == Verdict::kFits);
  CHECK(outlook.prospects.back().verdict == Verdict::kUndecided);
  CHECK(outlook.prospects.back().notes.size() == 1);
}

TEST_CASE("a scheduler that is asked decides as one that is not") {
  const auto play = [](bool asks) {
    const auto drafts = Drafted([](Rig& other) {
      other.AddGang("asked", 5, 5);
      other.AddPod("lone", {.cpu = "2", .priority_class = "high", .spec = {{"nodeSelector", {{"no", "where"}}}}});
    });
    Rig rig;
    rig.AddPriorityClass("high", 100);
    for (const char* node : {"a", "b", "c"}) rig.AddNode(node, 3);
    std::string story;
    for (int i = 0; i < 6; ++i) {
      rig.AddGang(fmt::format("g{}", i), 1 + i % 3, 1 + i % 3);
      rig.AddPod(fmt::format("p{}", i), {.priority_class = i % 2 ? "high" : ""});
      rig.Settle();
      if (asks) {
        CHECK(rig.scheduler->Rehearse({.gangs = drafts, .drained = {}}));
        CHECK(rig.scheduler->Rehearse({.gangs = {}, .drained = "b"}));
      }
      rig.Settle();
      story += DecisionsOf(rig) + "\n";
    }
    return story;
  };
  CHECK(play(true) == play(false));
}

}  // namespace
}  // namespace tutti::core
