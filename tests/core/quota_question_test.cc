// SPDX-License-Identifier: Apache-2.0
// What would become of gangs whose queue gives quota before there are pods: quota and nodes together. What is answered
// is what then happens, and nothing comes of the question.
#include <functional>
#include <random>

#include "tests/core/questions.h"
#include "tests/core/quota_rig.h"

namespace tutti::core {
namespace {

using observe::Outlook;
using observe::Prospect;
using Verdict = Prospect::Verdict;

sim::Json Workers(int64_t count, int64_t min = 0) {
  return {{"worker", {{"count", count}, {"min", min > 0 ? min : count}, {"cpu", "1"}}}};
}

// The gang as another scheduler has it that knows no node and no queue.
std::vector<model::GangDraft> DraftsOf(const std::function<void(QuotaRig&)>& add) {
  QuotaRig other;
  add(other);
  other.Settle();
  return other.scheduler->Drafts();
}

Prospect AnsweredOne(QuotaRig& rig, const std::string& queue, const sim::Json& roles,
                     const sim::Json& annotations = sim::Json::object()) {
  const Outlook outlook =
      Asked(rig, DraftsOf([&](QuotaRig& other) { other.Declare("asked", queue, roles, annotations); }));
  REQUIRE(outlook.prospects.size() == 1);
  return outlook.prospects.front();
}

TEST_CASE("question: a gang that asks a queue for quota fits with quota and nodes of its flavor") {
  QuotaRig rig;
  rig.AddFlavor("spot", {{"type", "spot"}});
  rig.AddFlavor("standard", {{"type", "standard"}});
  rig.AddLeaf("q", {{"spot", 8}, {"standard", 4}});
  rig.AddNode("n1", 1, 0, {{"type", "spot"}});
  rig.AddNode("n2", 8, 0, {{"type", "standard"}});
  rig.Declare("first", "q", Workers(1));
  const Prospect it = AnsweredOne(rig, "q", Workers(3));
  CHECK(it.verdict == Verdict::kFits);
  REQUIRE(it.places.size() == 1);
  CHECK(it.places.front() == Prospect::Place{"worker", "n2", 3});
  // Of one flavor there are no nodes, of the other no quota.
  CHECK(AnsweredOne(rig, "q", Workers(6)).verdict == Verdict::kWaitsForNodes);
  const Prospect fewer = AnsweredOne(rig, "q", Workers(6, 2));
  CHECK(fewer.verdict == Verdict::kFits);
  CHECK(fewer.min_member == 4);
}

TEST_CASE("question: a gang that its queue gives no quota is told why, in the words of the queue") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 4}});
  rig.AddNode("n1", 16);
  rig.Declare("first", "q", Workers(2));
  const Prospect waits = AnsweredOne(rig, "q", Workers(3));
  CHECK(waits.verdict == Verdict::kWaitsForQueue);
  CHECK(waits.message.find("1 more needed") != std::string::npos);
  CHECK(waits.why);
  CHECK(AnsweredOne(rig, "q", Workers(5)).verdict == Verdict::kNever);
  CHECK(AnsweredOne(rig, "none", Workers(1)).message.find("LocalQueue none doesn't exist") != std::string::npos);
  CHECK(AnsweredOne(rig, "q", Workers(1), {{"barred", "Deactivated"}}).message.find("Deactivated") !=
        std::string::npos);
}

TEST_CASE("question: a gang that has quota and no nodes waits for nodes") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 16}});
  rig.AddNode("n1", 4);
  rig.Declare("first", "q", Workers(2));
  const Prospect waits = AnsweredOne(rig, "q", Workers(3));
  CHECK(waits.verdict == Verdict::kWaitsForNodes);
  CHECK(waits.message.find("Missing: 1 cpu") != std::string::npos);
  CHECK(AnsweredOne(rig, "q", Workers(3), {{"fit", "quota"}}).notes.size() == 1);
}

TEST_CASE("question: gangs that would have to give back their quota are named with their pods") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 4}}).preemption.within_queue = model::PreemptionPolicy::kLowerPriority;
  rig.AddNode("n1", 16);
  rig.Declare("first", "q", Workers(3));
  rig.Settle();
  for (const char* name : {"w0", "w1", "w2"}) rig.AddPod(name, {.gang = "first", .role = "worker"});
  const Prospect it = AnsweredOne(rig, "q", Workers(2), {{"priority", "5"}});
  CHECK(it.verdict == Verdict::kNeedsVictims);
  REQUIRE(it.victims.size() == 3);
  CHECK(it.victims.front() == Prospect::Victim{"default", "w0", "n1", "first", false});
  CHECK(it.places.size() == 1);
  CHECK(rig.Has("first"));
}

TEST_CASE("question: each of several gangs finds the quota that those before it have left") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 4}});
  rig.AddNode("n1", 16);
  const Outlook outlook = Asked(rig, DraftsOf([](QuotaRig& other) {
                                     for (const char* name : {"a", "b", "c"}) other.Declare(name, "q", Workers(2));
                                   }));
  REQUIRE(outlook.prospects.size() == 3);
  CHECK(outlook.prospects[0].verdict == Verdict::kFits);
  CHECK(outlook.prospects[1].verdict == Verdict::kFits);
  CHECK(outlook.prospects[2].verdict == Verdict::kWaitsForQueue);
}

TEST_CASE("question: a gang starts when those that have its queue's quota end, and those that stand before it") {
  QuotaRig rig;
  model::LeafQueueSpec& leaf = rig.AddLeaf("q", {{"f", 4}});
  SECTION("of a queue that lets others pass") {}
  SECTION("of a strict queue") { leaf.strategy = model::QueueingStrategy::kStrictFifo; }
  rig.AddLeaf("other", {{"f", 4}});
  rig.AddNode("n1", 16);
  rig.Declare("first", "q", Workers(3), {{"limit", "100"}});
  rig.Declare("beside", "other", Workers(4), {{"limit", "30"}});
  rig.Settle();
  rig.clock.Advance(1'000);
  rig.Declare("second", "q", Workers(4), {{"limit", "50"}});
  rig.clock.Advance(1'000);
  rig.Declare("third", "q", Workers(2));
  rig.Settle();
  REQUIRE(rig.Has("first"));
  const auto starts_in = [&rig](const std::string& gang) {
    const auto outlook =
        Rehearsed(rig, {.gangs = {}, .drained = {}, .waits = model::GangKey{"asking", "default", gang}});
    REQUIRE(outlook);
    const observe::StartEstimate& start = outlook->prospects.front().start.value();
    CHECK(start.basis == observe::StartEstimate::Basis::kDeclared);
    REQUIRE(!start.awaits.empty());
    CHECK(start.awaits.back().of.name == "first");
    return (start.at_ms - rig.clock.WallMs()) / 1'000;
  };
  CHECK(starts_in("second") == 100);
  CHECK(starts_in("third") == 150);
  const Prospect asked = AnsweredOne(rig, "q", Workers(3));
  REQUIRE(asked.start);
  CHECK(asked.start->basis == observe::StartEstimate::Basis::kNone);
  REQUIRE(asked.start->endless.size() == 1);
  CHECK(asked.start->endless[0].name == "third");
}

// Queues of two flavors with few nodes, and gangs in them.
struct RandomQuotaRig : QuotaRig {
  explicit RandomQuotaRig(uint32_t seed) : random(seed) {
    using Policy = model::PreemptionPolicy;
    AddFlavor("x", {{"type", "x"}});
    AddFlavor("y", {{"type", "y"}});
    for (const char* name : {"q0", "q1"}) {
      model::LeafQueueSpec& leaf = AddLeaf(name, {{"x", Pick(0, 6)}, {"y", Pick(0, 4)}});
      if (Pick(0, 2) > 0) leaf.cohort = "c";
      leaf.preemption.within_queue = Pick(0, 1) ? Policy::kLowerPriority : Policy::kNever;
      leaf.preemption.within_cohort = Pick(0, 1) ? Policy::kAny : Policy::kNever;
      if (Pick(0, 1)) leaf.strategy = model::QueueingStrategy::kStrictFifo;
    }
    for (const char* type : {"x", "y"}) AddNode(type, static_cast<int>(Pick(2, 6)), 0, {{"type", type}});
    for (int i = 0; i < 5; ++i) {
      DeclareRandom(fmt::format("g{}", i), *this);
      Settle();
    }
    Pass(1'000);  // what comes now stands behind those that are there
  }
  int64_t Pick(int64_t from, int64_t to) { return std::uniform_int_distribution<int64_t>(from, to)(random); }
  void DeclareRandom(const std::string& name, QuotaRig& rig) {
    const int64_t count = Pick(1, 5);
    const int64_t min = Pick(0, 2) ? count : 1;
    const std::string queue = fmt::format("q{}", Pick(0, 1));
    rig.Declare(name, queue, Workers(count, min), {{"priority", std::to_string(Pick(0, 2))}});
  }
  std::mt19937 random;
};

TEST_CASE("question: what is answered about a gang's quota is what becomes of it once it is there") {
  std::map<Verdict, int> seen;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    RandomQuotaRig rig(seed);
    const auto before = rig.random;
    const Prospect told =
        Asked(rig, DraftsOf([&](QuotaRig& other) { rig.DeclareRandom("asked", other); })).prospects.front();
    rig.random = before;
    rig.world.events.clear();
    rig.DeclareRandom("asked", rig);
    rig.Settle();
    CAPTURE(seed, told.message, observe::Word(told.verdict), rig.Report("asked").quota.message);
    const bool starts = told.verdict == Verdict::kFits || told.verdict == Verdict::kNeedsVictims;
    const bool others_leave = std::ranges::any_of(
        rig.world.events, [](const std::string& event) { return event.starts_with("evicted"); });
    CHECK(rig.Has("asked") == starts);
    CHECK(others_leave == (told.verdict == Verdict::kNeedsVictims));
    if (told.verdict == Verdict::kFits) {
      std::map<std::string, int64_t> nodes;
      for (const Prospect::Place& place : told.places) nodes[place.node] += place.pods;
      CHECK(rig.Report("asked").nodes_by_role.at("worker") == nodes);
    }
    ++seen[told.verdict];
  }
  using enum Prospect::Verdict;
  for (const Verdict verdict : {kFits, kNeedsVictims, kWaitsForQueue, kWaitsForNodes}) CHECK(seen[verdict] > 5);
}

TEST_CASE("question: which gangs that wait for quota would start with another one, and that it stays what it is") {
  QuotaRig rig;
  model::LeafQueueSpec& leaf = rig.AddLeaf("q", {{"f", 4}});
  rig.AddLeaf("other", {{"f", 4}});
  rig.AddNode("n1", 10);
  for (const auto& [name, count] : {std::pair("four", 4), std::pair("six", 6), std::pair("eight", 8)}) {
    rig.Declare(name, "q", Workers(count));
    rig.Pass(1'000);
  }
  rig.Settle();
  CHECK(VerdictsOf(AskedLimit(rig, "q", 4)) == "six:never eight:never");
  CHECK(VerdictsOf(AskedLimit(rig, "q", 0)) == "six:never eight:never");
  CHECK(VerdictsOf(AskedLimit(rig, "q", 10)) == "six:fits eight:waits-for-queue");
  CHECK(VerdictsOf(AskedLimit(rig, "q", 18, "asking")) == "six:fits eight:waits-for-nodes");
  CHECK(VerdictsOf(AskedLimit(rig, "other", 18)).empty());
  CHECK_FALSE(AskedLimit(rig, "none", 18));
  CHECK_FALSE(AskedLimit(rig, "q", 18, "kueue"));
  leaf.strategy = model::QueueingStrategy::kStrictFifo;
  rig.Annotate("four", "x", "y");
  const auto strict = AskedLimit(rig, "q", 9);
  CHECK(VerdictsOf(strict) == "six:waits-for-queue eight:waits-for-queue");
  CHECK(strict->prospects[1].message.find("have their turn before it") != std::string::npos);
  rig.Withdraw("four");
  rig.Settle();
  CHECK_FALSE(rig.Has("six"));
}

// A gang of two that waits in a queue with one cpu in each of two flavors.
struct TwoFlavors : QuotaRig {
  TwoFlavors() {
    AddFlavor("g");
    AddLeaf("q", {{"f", 1}, {"g", 1}});
    AddNode("n1", 10);
    Declare("two", "q", Workers(2));
  }
};

TEST_CASE("question: a quota of several flavors is not another one by its resource alone") {
  TwoFlavors rig;
  const auto outlook = AskedLimit(rig, "q", 4);
  CHECK(VerdictsOf(outlook) == "two:undecided");
  REQUIRE(outlook->notes.size() == 1);
  CHECK(outlook->notes.front().find("cpu in 2 flavors") != std::string::npos);
}

TEST_CASE("question: a quota of several flavors is another one in the flavor that is named") {
  TwoFlavors rig;
  CHECK(VerdictsOf(AskedLimit(rig, "q", 2, "", "g")) == "two:fits");
  CHECK(VerdictsOf(AskedLimit(rig, "q", 1, "", "f")) == "two:never");
  const auto none = AskedLimit(rig, "q", 2, "", "h");
  CHECK(VerdictsOf(none) == "two:undecided");
  CHECK(none->notes == std::vector<std::string>{"ClusterQueue q has no quota for cpu in flavor h."});
}

TEST_CASE("question: what is answered about another quota is what becomes of the gangs once it is declared") {
  std::map<Verdict, int> seen;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    RandomQuotaRig rig(seed);
    model::LeafQueueSpec& leaf = rig.world.leaves["q0"];
    leaf.groups.front().flavors.resize(1);
    leaf.preemption = {};
    leaf.cohort.clear();  // else gangs of the other queue would have their turn, too
    rig.Annotate("g0", "x", "1");
    const int64_t cpu = rig.Pick(0, 9);
    const auto told = AskedLimit(rig, "q0", cpu);
    leaf.groups.front().flavors.front().resources.front().second.nominal = cpu * 1'000;
    rig.Annotate("g0", "x", "2");
    rig.Settle();
    for (const Prospect& it : told->prospects) {
      CAPTURE(seed, cpu, it.gang.name, it.message, observe::Word(it.verdict));
      CHECK(rig.Has(it.gang.name) == (it.verdict == Verdict::kFits));
      ++seen[it.verdict];
    }
  }
  CHECK(seen[Verdict::kFits] > 5);
  CHECK(seen[Verdict::kWaitsForQueue] > 5);
}

TEST_CASE("question: a scheduler that is asked about quota decides as one that is not") {
  const auto play = [](uint32_t seed, bool asks) {
    RandomQuotaRig rig(seed);
    std::string story;
    for (int i = 5; i < 9; ++i) {
      const auto drafts = DraftsOf([&](QuotaRig& other) {
        rig.DeclareRandom("asked", other);
        rig.DeclareRandom("another", other);
      });
      if (asks) CHECK(rig.scheduler->Rehearse({.gangs = drafts, .drained = {}}));
      rig.DeclareRandom(fmt::format("g{}", i), rig);
      if (rig.Pick(0, 1)) rig.Withdraw(fmt::format("g{}", i - 5));
      rig.Settle();
      story += DecisionsOf(rig) + "\n";
    }
    return story;
  };
  for (uint32_t seed = 0; seed < 20; ++seed) CHECK(play(seed, true) == play(seed, false));
}

}  // namespace
}  // namespace tutti::core
