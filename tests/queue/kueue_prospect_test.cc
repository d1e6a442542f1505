// SPDX-License-Identifier: Apache-2.0
// What would become of gangs if they asked for quota now: what they are told, that it is what then happens, and that
// nothing comes of the question.
#include <fmt/format.h>

#include <optional>
#include <random>
#include <set>

#include "queue/policies/kueue/prospect.h"
#include "tests/queue/kueue_desk.h"
#include "tests/support/catch.h"

namespace tutti::queue {
namespace {

constexpr uint32_t kAsked = 1'000;

// "f", "f without 1 2", or why it waits.
std::string Told(KueueProspect& prospect, model::GangAsk ask, const NodeRules& nodes = {}) {
  static uint32_t number = 0;
  ask.uid = fmt::format("asked/{}", number++);
  const KueueProspect::Answer answer = prospect.Ask(model::GangId(kAsked), ask, nodes);
  if (!answer.assignment) return answer.why.message;
  std::string text = answer.assignment->roles.front().picks.at("gpu").flavor;
  if (!answer.victims.empty()) text += " without";
  for (const Victim& victim : answer.victims) text += fmt::format(" {}", victim.gang.value);
  return text;
}

std::string Told(Desk& desk, model::GangAsk ask, const NodeRules& nodes = {}) {
  KueueProspect prospect(desk.admission);
  return Told(prospect, std::move(ask), nodes);
}

TEST_CASE("kueue: a gang that is asked about is told its flavor, its victims, or why it would wait") {
  Desk desk;
  model::LeafQueueSpec leaf = Leaf("a", "", Quota(4));
  leaf.preemption.within_queue = model::PreemptionPolicy::kLowerPriority;
  desk.Put(leaf);
  CHECK(Told(desk, AskFor("a", 4)) == "f");
  CHECK(Told(desk, AskFor("a", 5)).find("> maximum capacity (4)") != std::string::npos);
  CHECK(Told(desk, AskFor("none", 1)) == "LocalQueue none doesn't exist");
  desk.Wait(1, AskFor("a", 3));
  desk.Run();
  CHECK(Told(desk, AskFor("a", 2)).find("1 more needed") != std::string::npos);
  CHECK(Told(desk, AskFor("a", 2, 5)) == "f without 1");
  leaf.stop = model::StopPolicy::kHold;
  desk.Put(leaf);
  CHECK(Told(desk, AskFor("a", 1)) == "ClusterQueue a is inactive");
  model::LocalQueueSpec local{"ns", "a", "b"};
  desk.admission.Put(local, true);
  CHECK(Told(desk, AskFor("a", 1)) == "ClusterQueue b doesn't exist");
  desk.admission.Put(local, false);
  local.stop = model::StopPolicy::kHold;
  desk.admission.Put(local, true);
  CHECK(Told(desk, AskFor("a", 1)) == "LocalQueue a is inactive");
}

TEST_CASE("kueue: of several that are asked about each finds what those before it have left") {
  Desk desk;
  model::LeafQueueSpec leaf = Leaf("a", "", Quota(4));
  leaf.preemption.within_queue = model::PreemptionPolicy::kLowerPriority;
  desk.Put(leaf);
  desk.Wait(1, AskFor("a", 2));
  desk.Wait(2, AskFor("a", 2));
  desk.Run();
  {
    KueueProspect prospect(desk.admission);
    CHECK(Told(prospect, AskFor("a", 2, 5)) == "f without 1");
    CHECK(Told(prospect, AskFor("a", 2, 5)) == "f without 2");
    CHECK(Told(prospect, AskFor("a", 2, 5)).find("2 more needed") != std::string::npos);
    CHECK(prospect.looks() > 3);
  }
  CHECK(Told(desk, AskFor("a", 2, 5)) == "f without 1");
  desk.Forget(1);
  CHECK(Told(desk, AskFor("a", 2)) == "f");
}

TEST_CASE("kueue: in a strict line a gang that is asked about stands behind those that come before it") {
  Desk desk;
  model::LeafQueueSpec leaf = Leaf("a", "", Quota(4));
  leaf.strategy = model::QueueingStrategy::kStrictFifo;
  desk.Put(leaf);
  desk.Wait(1, AskFor("a", 3));
  desk.Wait(2, AskFor("a", 2));
  desk.Run();
  const std::string behind = "Others that wait in ClusterQueue a have their turn before it";
  CHECK(Told(desk, AskFor("a", 1, 0, 9)) == behind);
  CHECK(Told(desk, AskFor("a", 1, 5, 9)) == "f");
  desk.Forget(2);
  KueueProspect prospect(desk.admission);
  CHECK(Told(prospect, AskFor("a", 2, 5, 9)).find("1 more needed") != std::string::npos);
  CHECK(Told(prospect, AskFor("a", 1, 0, 9)) == behind);
}

TEST_CASE("kueue: where nodes lack, a gang that is asked about tries its next flavors, fewer members, and victims") {
  Desk desk;
  desk.PutTwoFlavors(4);
  NodeRules nodes;
  std::string with_nodes = "g";
  int64_t most = 4;
  const auto place = [&](model::GangId, const Assignment& assignment) {
    const RoleAssignment& role = assignment.roles.front();
    return role.picks.at("gpu").flavor == with_nodes && role.count <= most ? "" : "no nodes";
  };
  nodes.place = place;
  nodes.would_place = [&](model::GangId gang, const Assignment& assignment, const std::vector<Victim>& victims) {
    return victims.empty() ? place(gang, assignment) : "";
  };
  CHECK(Told(desk, AskFor("a", 2), nodes) == "g");
  model::GangAsk fewer = AskFor("a", 4);
  fewer.roles.front().min_count = 1;
  most = 2;
  CHECK(Told(desk, fewer, nodes) == "g");
  with_nodes = "none";
  CHECK(Told(desk, AskFor("a", 2), nodes) == "no nodes");
  desk.Wait(1, AskFor("a", 4));
  desk.Wait(2, AskFor("a", 1));
  desk.Run();
  CHECK(Told(desk, AskFor("a", 2, 5), nodes) == "g without 2");
}

// Some leaves with gangs in them, most of one cohort, and no gang on its way out. By the seed, preemption is fair, and
// nodes hold few members of a gang: more once others have left.
struct RandomDesk : Desk {
  explicit RandomDesk(uint32_t seed)
      : Desk(KueueRules{seed % 2 == 1, kDefaultStrategies, {}, false}), random(seed) {
    if (seed % 4 > 1) {
      nodes.would_place = [](model::GangId, const Assignment& assignment, const std::vector<Victim>& victims) {
        const RoleAssignment& role = assignment.roles.front();
        const int64_t most = role.picks.at("gpu").flavor == "f" ? 3 : 4;
        return role.count <= most + std::ssize(victims) ? "" : "no nodes";
      };
      nodes.place = [this](model::GangId gang, const Assignment& assignment) {
        return nodes.would_place(gang, assignment, {});
      };
    }
    admission.SetNodes(nodes);
    model::Flavor flavor;
    flavor.name = "g";
    admission.Put(flavor);
    for (int i = 0; i < 3; ++i) Put(RandomLeaf(fmt::format("q{}", i)));
    for (uint32_t gang = 1; gang <= 12; ++gang) {
      Wait(gang, RandomAsk());
      Settle();
    }
  }
  int64_t Pick(int64_t from, int64_t to) { return std::uniform_int_distribution<int64_t>(from, to)(random); }
  model::LeafQueueSpec RandomLeaf(const std::string& name) {
    model::LeafQueueSpec leaf = Leaf(name, Pick(0, 3) > 0 ? "c" : "", {});
    const auto quota = [&] {
      return Quota(Pick(0, 6), Pick(0, 1) && !leaf.cohort.empty() ? std::optional(Pick(0, 4)) : std::nullopt);
    };
    leaf.groups = Pick(0, 1) ? Gpus({{"f", quota()}, {"g", quota()}}) : Gpus({{"f", quota()}});
    leaf.strategy = Pick(0, 1) ? model::QueueingStrategy::kStrictFifo : model::QueueingStrategy::kBestEffortFifo;
    using Policy = model::PreemptionPolicy;
    leaf.preemption.within_queue = Pick(0, 1) ? Policy::kLowerPriority : Policy::kNever;
    const Policy cohort[] = {Policy::kNever, Policy::kLowerPriority, Policy::kAny};
    leaf.preemption.within_cohort = cohort[Pick(0, 2)];
    return leaf;
  }
  model::GangAsk RandomAsk() {
    model::GangAsk ask = AskFor(fmt::format("q{}", Pick(0, 2)), Pick(1, 6), static_cast<int32_t>(Pick(0, 2)), ++now);
    if (Pick(0, 3) == 0) ask.roles.front().min_count = 1;
    ask.roles.front().group = std::to_string(now);  // none stands aside for another one that asks alike
    return ask;
  }
  // Those that are told to leave have left, and do not come back.
  PassResult Settle() {
    PassResult result = Run();
    for (bool any = !result.evicted.empty(); any;) {
      for (const auto& evicted : result.evicted) Forget(evicted.gang.value);
      const PassResult then = Run();
      any = !then.evicted.empty();
      result.evicted = then.evicted;
    }
    return result;
  }
  std::mt19937 random;
  NodeRules nodes;
};

TEST_CASE("kueue: what a gang is told is what becomes of it once it asks") {
  int has = 0, victims = 0, waits = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    RandomDesk desk(seed);
    model::GangAsk ask = desk.RandomAsk();
    ask.uid = std::to_string(kAsked);
    KueueProspect::Answer told;
    {
      KueueProspect prospect(desk.admission);
      told = prospect.Ask(model::GangId(kAsked), ask, desk.nodes);
    }
    desk.Wait(kAsked, ask);
    const PassResult first = desk.Run();
    std::set<uint32_t> leave, said;
    for (const auto& evicted : first.evicted)
      if (evicted.by == model::GangId(kAsked)) leave.insert(evicted.gang.value);
    for (const Victim& victim : told.victims) said.insert(victim.gang.value);
    CAPTURE(seed, told.why.message);
    CHECK(leave == said);
    CHECK(desk.Has(kAsked) == (told.assignment && said.empty()));
    if (desk.Has(kAsked))
      CHECK(desk.admission.holding(model::GangId(kAsked))->roles.front().count == told.assignment->roles.front().count);
    else if (told.why.reason != WaitReason::kPendingEvaluation && said.empty())
      CHECK(desk.Why(kAsked) == told.why.message);
    has += desk.Has(kAsked);
    victims += !said.empty();
    waits += !told.assignment;
  }
  CHECK(has > 50);
  CHECK(victims > 20);
  CHECK(waits > 100);
}

TEST_CASE("kueue: a desk that is asked decides as one that is not") {
  const auto play = [](uint32_t seed, bool asks) {
    RandomDesk desk(seed);
    std::string story;
    for (uint32_t gang = 100; gang < 110; ++gang) {
      const model::GangAsk ask = desk.RandomAsk();
      if (asks) Told(desk, ask, desk.nodes);
      desk.Wait(gang, ask);
      const PassResult result = desk.Settle();
      for (const auto& admitted : result.admitted) story += fmt::format("+{} ", admitted.gang.value);
      for (const model::GangId refused : result.refused) story += fmt::format("-{} ", refused.value);
      if (desk.Pick(0, 1)) desk.Forget(static_cast<uint32_t>(desk.Pick(1, 12)));
    }
    return story;
  };
  for (uint32_t seed = 0; seed < 60; ++seed) CHECK(play(seed, true) == play(seed, false));
}

}  // namespace
}  // namespace tutti::queue
