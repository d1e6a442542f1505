// SPDX-License-Identifier: Apache-2.0
// One pod on its way from its event to its bind: each collaborator of the cycle is entered once. And pods that take the
// place of others: what each of them costs.
#include <map>
#include <set>

#include "core/gangs/evidence.h"
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

using Entered = std::map<std::string, int>;

// Takes every node, and counts how often it is entered.
class EnteredFilter final : public framework::Filter {
 public:
  explicit EnteredFilter(Entered& counts) : counts_(counts) {}
  std::string_view name() const override { return "Counting"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override {
    ++counts_["filter prepared"];
    return std::make_unique<Takes>(counts_);
  }
  framework::Wake WakesOn() const override { return {}; }

 private:
  struct Takes final : framework::FilterState {
    explicit Takes(Entered& counts) : counts(counts) {}
    bool DependsOnNodePods() const override { return false; }
    framework::Verdict Check(model::NodeId) const override {
      ++counts["node filtered"];
      return framework::Verdict::kFits;
    }
    void Explain(model::NodeId, std::vector<std::string>*) const override {}
    Entered& counts;
  };
  Entered& counts_;
};

class EnteredObserver final : public observe::Observer {
 public:
  explicit EnteredObserver(Entered& counts) : counts_(counts) {}
  void OnAttempt(std::string_view, std::string_view result, int64_t, double) override {
    ++counts_["attempt " + std::string(result)];
  }
  void OnHappening(const Happening& now) override {
    constexpr const char* kWords[] = {"waits", "bound", "started", "undone", "evicted", "gone"};
    ++counts_[std::string("told ") + kWords[static_cast<int>(now.step)]];
  }
  void OnPreemption(int64_t) override { ++counts_["victims sought"]; }

 private:
  Entered& counts_;
};

struct OnePod : Rig {
  OnePod() {
    configure = [this](Options* options) {
      for (framework::Profile& profile : options->profiles)
        profile.filters.push_back(std::make_shared<EnteredFilter>(counts));
    };
    Observe(&watcher);
    AddNode("n", 4);
    Settle();
    fate = [this](const cluster::Command& command) {
      Count(command);
      return sim::Fate{};
    };
    counts.clear();
    before = scheduler->Done();
    journaled = scheduler->decision_sequence();
    gangs = scheduler->Holds().gangs;
  }
  void Count(const cluster::Command& command) {
    ++counts[std::holds_alternative<cluster::Bind>(command.body)        ? "bind sent"
             : std::holds_alternative<cluster::EmitEvent>(command.body) ? "event sent"
                                                                        : "other command sent"];
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    if (!bind) return;
    const std::string* said = model::Find(bind->annotations, kBindAnnotation);
    REQUIRE(said);
    if (plans.insert(sim::DigString(sim::Json::parse(*said), "plan")).second) ++counts["plan begun"];
  }
  // What was counted since the last time, one "NAME N" a line.
  std::string Take() {
    const auto count = [this](const char* name, uint64_t now, uint64_t then) {
      if (now != then) counts[name] = static_cast<int>(now - then);
    };
    const Scheduler::Work now = scheduler->Done();
    count("census", now.censuses, before.censuses);
    count("decision made", now.decisions_made, before.decisions_made);
    count("gang counted", now.gangs_counted, before.gangs_counted);
    count("class ranked", now.classes_ranked, before.classes_ranked);
    count("search", now.searches, before.searches);
    count("search work", now.search_work, before.search_work);
    before = now;
    const uint64_t sequence = scheduler->decision_sequence();
    count("journaled", sequence, std::exchange(journaled, sequence));
    const Scheduler::Footprint holds = scheduler->Holds();
    if (const size_t then = std::exchange(gangs, holds.gangs); then != gangs)
      ++counts[then < gangs ? "gang opened" : "gang closed"];
    count("certificate kept", holds.shapes, 0);
    std::string text;
    for (const auto& [name, times] : std::exchange(counts, {})) text += fmt::format("{} {}\n", name, times);
    return text;
  }

  Entered counts;
  EnteredObserver watcher{counts};
  Scheduler::Work before;
  uint64_t journaled = 0;
  size_t gangs = 0;
  std::set<std::string> plans;  // that were seen
};

// What is entered from the event to so many binds.
std::string Once(int binds) {
  return fmt::format(
      "attempt scheduled 1\n"
      "bind sent {}\n"
      "census 1\n"
      "class ranked 1\n"
      "filter prepared 1\n"
      "gang counted 1\n"
      "gang opened 1\n"
      "journaled 1\n"
      "node filtered 1\n"
      "plan begun 1\n"
      "search 1\n",
      binds);
}

struct CountedAttempts final : observe::Observer {
  void OnAttempt(std::string_view, std::string_view, int64_t, double) override { ++count; }
  int count = 0;
};

// Nodes full of pods of low priority, which end when the test says so.
struct FullCluster : Rig {
  static constexpr int kNodes = 10, kOnNode = 8, kCome = 40;

  FullCluster() {
    Observe(&attempts);
    AddPriorityClass("high", 100);
    for (int n = 0; n < kNodes; ++n) AddNode(fmt::format("n{}", n), 64, kOnNode);
    for (int i = 0; i < kNodes * kOnNode; ++i) AddPod(fmt::format("low-{}", i), {.gpu = 1});
    Pass(60'000);
    REQUIRE(Bound() == kNodes * kOnNode);
    lingers = true;
    fate = [this](const cluster::Command& command) {
      ++sent[NameOf(command)];
      lanes[NameOf(command)] = command.lane;
      return sim::Fate{};
    };
    attempts.count = 0;
  }
  static std::string NameOf(const cluster::Command& command) {
    if (const auto* event = std::get_if<cluster::EmitEvent>(&command.body)) return event->reason;
    if (std::holds_alternative<cluster::Bind>(command.body)) return "bind";
    if (std::holds_alternative<cluster::Delete>(command.body)) return "delete";
    const auto& patch = std::get<cluster::Patch>(command.body);
    return "status of " + patch.object.name().substr(0, patch.object.name().find('-'));
  }
  std::vector<std::string> Leaving() const {
    std::vector<std::string> names;
    for (const sim::Object& pod : store.All(sim::kPods))
      if (!sim::Dig(*pod, "metadata", "deletionTimestamp").is_null()) names.push_back(sim::NameOf(*pod));
    return names;
  }
  int BoundHigh() const {
    int bound = 0;
    for (int i = 0; i < kCome; ++i) bound += !NodeOf(fmt::format("high-{}", i)).empty();
    return bound;
  }

  std::map<std::string, int> sent;             // by what it is
  std::map<std::string, cluster::Lane> lanes;  // of the last of them
  CountedAttempts attempts;
};

}  // namespace

TEST_CASE_METHOD(OnePod, "A pod is bound in the cycle that reads its event, and enters each collaborator once") {
  AddPod("p", {});
  Step();
  CHECK(NodeOf("p") == "n");
  CHECK(Take() == Once(1));
  Settle();
  CHECK(Take() ==
        "census 1\n"
        "event sent 1\n"
        "gang closed 1\n"
        "gang counted 1\n"
        "journaled 3\n"
        "told bound 1\n"
        "told gone 1\n"  // what has no gang is forgotten once it is bound
        "told started 1\n");
}

TEST_CASE_METHOD(OnePod, "A gang of four enters each collaborator as often as one pod does, but for its binds") {
  AddGang("g", 4, 4);
  Step();
  CHECK(Take() == Once(3) + "search work 525\n");
  Settle();
  CHECK(Take() ==
        "bind sent 1\n"  // the last, which commits the gang
        "census 2\n"     // three are bound, and all are
        "event sent 4\n"
        "gang counted 2\n"
        "journaled 2\n"
        "told bound 4\n"
        "told started 1\n");
}

TEST_CASE_METHOD(FullCluster, "A pod that takes another's place is considered a few times, however many wait") {
  for (int i = 0; i < kCome; ++i) AddPod(fmt::format("high-{}", i), {.gpu = 1, .priority_class = "high"});
  Settle();
  std::vector<std::string> leaving = Leaving();
  REQUIRE(leaving.size() == kCome);
  CHECK(attempts.count == kCome);
  // The last goes first: were all considered then, each would look for room before the one that has it.
  for (int gone = 1; !leaving.empty(); ++gone, leaving.pop_back()) {
    Delete(leaving.back());
    Settle();
    CHECK(BoundHigh() == gone);
  }
  Pass(60'000);
  CHECK(attempts.count <= 4 * kCome);
  for (const char* write : {"status of low", "delete", "Preempted", "bind", "Scheduled"}) {
    INFO(write);
    CHECK(sent[write] == kCome);
  }
  CHECK(sent["status of high"] <= 2 * kCome);
  // What was begun is finished before other pods are told that they go.
  CHECK(lanes["status of low"] == cluster::Lane::kEvict);
  CHECK(lanes["delete"] == cluster::Lane::kFinish);
  CHECK(lanes["bind"] == cluster::Lane::kFinish);
}

}  // namespace tutti::core
