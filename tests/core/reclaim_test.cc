// SPDX-License-Identifier: Apache-2.0
// What queues take back from each other, over random queues and arrivals: never in turns, and always of use.
#include <algorithm>
#include <map>

#include "base/random.h"
#include "cluster/state.h"
#include "core/gangs/gang.h"
#include "core/gangs/preemption.h"
#include "tests/core/volcano_rig.h"

namespace tutti::core {
namespace {

using Sharing = QueueRule::Kind;

// Queues that share some nodes, and gangs of pods of 1 cpu. A pod that was evicted comes back, as its controller would
// have it.
class Contest {
 public:
  Contest(Sharing rule, uint64_t seed) : random_(seed) {
    rig_.configure = [rule](Options* options) {
      options->queue_rule.kind = rule;
      options->queue_rule.reclaim = true;
      options->gang_preemption = Options::GangPreemption::kWithinQueue;
    };
    rig_.fate = [this](const cluster::Command& command) {
      const auto* event = std::get_if<cluster::EmitEvent>(&command.body);
      if (event && event->reason == "Preempted") Note(event->regarding.name(), event->note);
      return sim::Fate{};
    };
    rig_.Restart();
    rig_.lingers = true;  // so that what is said of a pod is said before it is gone
    rig_.AddNode("n2", 6);
    rig_.AddPriorityClass("high", 100);
    queues_ = random_.Between(2, 4);
    rig_.PutQueue("org", {{"weight", 1}, {"capability", {{"cpu", std::to_string(random_.Between(8, 20))}}}});
    for (int64_t i = 0; i < queues_; ++i) AddQueue(fmt::format("q{}", i));
  }

  void Run() {
    const int64_t gangs = random_.Between(5, 12);
    for (int64_t i = 0; i < gangs; ++i) {
      Arrive(fmt::format("g{}", i));
      taken_.clear();
      Pass(random_.Between(1, 3));
    }
    Pass(20);
    const size_t before = evictions_;
    Pass(10);
    CHECK(evictions_ == before);
    for (const auto& [name, group] : groups_) {
      INFO(name);
      const int64_t bound = BoundOf(group);
      CHECK((bound == 0 || bound >= group.min));
    }
  }
  size_t evictions() const { return evictions_; }

 private:
  struct Group {
    std::string queue, uid;
    int64_t min = 1;
    bool high = false;
    std::vector<std::string> pods;  // as they are now
  };

  void AddQueue(const std::string& name) {
    sim::Json spec = {{"weight", random_.Between(1, 3)}};
    if (!random_.OneIn(4)) spec["deserved"] = {{"cpu", std::to_string(random_.Between(2, 12))}};
    if (random_.OneIn(4)) spec["reclaimable"] = false;
    if (random_.OneIn(3)) spec["parent"] = "org";
    rig_.PutQueue(name, spec);
  }
  void Arrive(const std::string& name) {
    Group& group = groups_[name];
    group.queue = fmt::format("q{}", random_.Between(0, queues_ - 1));
    group.min = random_.Between(1, 6);
    group.high = random_.OneIn(3);
    sim::Json more = sim::Json::object();
    if (group.high) more["priorityClassName"] = "high";
    rig_.AddGroup(name, static_cast<int>(group.min), group.queue, more);
    group.uid = sim::DigString(*rig_.store.Find(kGroups, "default", name), "metadata", "uid");
    group.pods.resize(static_cast<size_t>(group.min + random_.Between(0, 5)));
    for (std::string& pod : group.pods) Make(name, &pod);
  }
  void Make(const std::string& group, std::string* pod) {
    *pod = fmt::format("{}-{}", group, made_++);
    rig_.AddPod(*pod, {.priority_class = groups_.at(group).high ? "high" : "",
                       .annotations = {{"scheduling.k8s.io/group-name", group}}});
  }
  void Pass(int64_t rounds) {
    for (int64_t i = 0; i < rounds; ++i) {
      rig_.Pass(5'000);
      for (const sim::Object& pod : rig_.store.All(sim::kPods))
        if (!sim::Dig(*pod, "metadata", "deletionTimestamp").is_null()) rig_.Delete(sim::NameOf(*pod));
      rig_.Pass(10'000);
      for (auto& [name, group] : groups_)
        for (std::string& pod : group.pods)
          if (!rig_.store.Find(sim::kPods, "default", pod)) Make(name, &pod);
      CheckTakers();
    }
  }
  // What was taken for a gang is of use: the gang starts soon.
  void CheckTakers() {
    constexpr int kSoon = 4;
    std::erase_if(rounds_since_, [this](const auto& item) {
      const Group& taker = groups_.at(item.first);
      return BoundOf(taker) >= taker.min;
    });
    for (auto& [taker, rounds] : rounds_since_) {
      INFO(taker);
      CHECK(++rounds < kSoon);
    }
  }
  int64_t BoundOf(const Group& group) const {
    return std::ranges::count_if(group.pods, [this](const std::string& pod) { return !rig_.NodeOf(pod).empty(); });
  }
  // "Preempted by podgroup UID on node NODE"
  void Note(const std::string& pod, const std::string& note) {
    ++evictions_;
    const std::string victim = pod.substr(0, pod.find('-'));
    const auto taker = std::ranges::find_if(
        groups_, [&](const auto& item) { return note.find(item.second.uid) != std::string::npos; });
    REQUIRE(taker != groups_.end());
    INFO(fmt::format("{} goes for {}", victim, taker->first));
    rounds_since_[taker->first] = 0;
    const Group& from = groups_.at(victim);
    if (from.queue == taker->second.queue) {
      CHECK(!from.high);
      CHECK(taker->second.high);
    }
    CHECK_FALSE(taken_.contains({taker->first, victim}));  // that would be taking back
    taken_.insert({victim, taker->first});
  }

  base::Random random_;
  VolcanoRig rig_;
  int64_t queues_ = 0, made_ = 0;
  std::map<std::string, Group> groups_;
  std::set<std::pair<std::string, std::string>> taken_;  // of which gang, for which; since the last arrival
  std::map<std::string, int> rounds_since_;              // something was taken for a gang that is not whole yet
  size_t evictions_ = 0;
};

}  // namespace

TEST_CASE("Queues never take from each other in turns, and every gang keeps its minimum or goes as a whole") {
  for (const Sharing rule : {Sharing::kCapability, Sharing::kProportion, Sharing::kCapacity}) {
    size_t evictions = 0;
    for (uint64_t seed = 1; seed <= 30; ++seed) {
      CAPTURE(static_cast<int>(rule), seed);
      Contest contest(rule, seed);
      contest.Run();
      evictions += contest.evictions();
    }
    CHECK(evictions > 100);
  }
}

TEST_CASE("A leader that follows one that died while it took back goes on with the same victims") {
  VolcanoRig rig;
  rig.configure = [](Options* options) {
    options->queue_rule.kind = Sharing::kCapacity;
    options->queue_rule.reclaim = true;
  };
  rig.PutQueue("org", {{"capability", {{"cpu", "8"}}}});
  for (const char* name : {"lent", "owner"}) rig.PutQueue(name, {{"parent", "org"}, {"deserved", {{"cpu", "4"}}}});
  rig.Restart();
  rig.AddGroup("lent", 1, "lent");
  rig.AddMembers("lent", 0, 8);
  rig.Pass(10'000);
  REQUIRE(rig.Bound() == 8);
  rig.lingers = true;
  rig.AddGroup("owner", 3, "owner");
  rig.AddMembers("owner", 0, 3);
  std::set<std::string> told;
  const auto count = [&] {
    for (int i = 0; i < 8; ++i)
      if (const sim::Object pod = rig.store.Find(sim::kPods, "default", fmt::format("lent-{}", i));
          pod && sim::DigString(sim::ConditionOf(*pod, "DisruptionTarget"), "status") == "True")
        told.insert(sim::NameOf(*pod));
    return told.size();
  };
  for (int steps = 0; steps < 200 && count() == 0; ++steps) rig.Step();
  REQUIRE(count() > 0);
  for (int i = 0; i < 3; ++i) {
    rig.Restart();
    rig.Pass(20'000);
    CHECK(count() == 3);
  }
  rig.lingers = false;
  rig.Pass(30'000);
  CHECK(count() == 3);
  for (int i = 0; i < 3; ++i) CHECK(rig.NodeOf(fmt::format("owner-{}", i)) == "n1");
}

TEST_CASE("On a quiet cluster gangs that queues have nothing for are considered once a minute, however many they are") {
  struct Attempts final : observe::Observer {
    void OnAttempt(std::string_view, std::string_view, int64_t, double) override { ++count; }
    int64_t count = 0;
  } attempts;
  VolcanoRig rig;
  rig.configure = [](Options* options) {
    options->queue_rule.kind = Sharing::kCapacity;
    options->queue_rule.reclaim = true;
  };
  rig.Observe(&attempts);
  for (const char* name : {"a", "b"}) {
    rig.PutQueue(name, {{"deserved", {{"cpu", "4"}}}});
    rig.AddGroup(name, 1, name);
    rig.AddMembers(name, 0, 4);
  }
  rig.Pass(10'000);
  REQUIRE(rig.Bound() == 8);
  constexpr int kGangs = 40, kMinutes = 20;
  for (int i = 0; i < kGangs; ++i) {
    const std::string name = fmt::format("more-{}", i);
    rig.AddGroup(name, 1, i % 2 == 0 ? "a" : "b");
    rig.AddMembers(name, 0, 1);
  }
  rig.Pass(60'000);
  attempts.count = 0;
  rig.Pass(kMinutes * 60'000);
  CHECK(attempts.count <= kGangs * (kMinutes + 1));
  CHECK(rig.scheduler->Holds().timers <= 3 * kGangs);
  rig.AddNode("n2", kGangs);  // none was forgotten
  rig.Pass(60'000);
  CHECK(rig.Bound() == 8 + kGangs);
}

namespace {

// A full node; gang "high" of group "high" waits. Its victims are as told.
struct Told : VolcanoRig {
  explicit Told(EvictionCause cause) {
    configure = [this, cause](Options* options) {
      options->queue_rule.reclaim = true;
      options->choose_victims = [this, cause](const model::GangKey& gang, const std::vector<model::PodId>&,
                                              const cluster::ClusterState& state) {
        std::vector<ChosenVictim> victims;
        if (gang.name == "high")
          for (const std::string& name : chosen)
            victims.push_back({state.FindPod("default", name), cause == EvictionCause::kReclaim});
        return victims;
      };
    };
    make_dialects = [] {
      dialects::DialectList dialects;
      dialects.push_back(std::make_unique<dialects::Volcano>());
      dialects.push_back(std::make_unique<LabelDialect>(nullptr));
      return dialects;
    };
    fate = [this](const cluster::Command& command) {
      const auto* patch = std::get_if<cluster::Patch>(&command.body);
      const bool tells = patch && patch->body.find("DisruptionTarget") != std::string::npos;
      if (const auto* event = std::get_if<cluster::EmitEvent>(&command.body)) ++events[event->reason];
      if (tells) ++tried;
      return tells && fails ? sim::Fate{.kind = sim::Fate::Kind::kRefuse, .http_status = 500, .message = "no"}
                            : sim::Fate{};
    };
    AddPriorityClass("low", 10);
    AddPriorityClass("high", 100);
    AddPriorityClass("top", 200);
    AddQueue("owner", 64);
    Restart();
    lingers = true;
  }
  void AddTaker() {
    AddGroup("high", 2, "owner", {{"priorityClassName", "high"}});
    for (int i = 0; i < 2; ++i)
      AddPod(fmt::format("high-{}", i),
             {.priority_class = "high", .annotations = {{"scheduling.k8s.io/group-name", "high"}}});
  }
  // Victims are chosen, and cannot be told. Another leader follows, by which others would be chosen.
  void FailOverWhileTaking() {
    fails = true;
    AddTaker();
    Pass(5'000);
    REQUIRE(tried > 0);
    fails = false;
    chosen = {"runs-2", "runs-3"};
    Restart();
    Pass(10'000);
  }
  std::set<std::string> Leaving() const {
    std::set<std::string> names;
    for (const sim::Object& pod : store.All(sim::kPods))
      if (!sim::Dig(*pod, "metadata", "deletionTimestamp").is_null()) names.insert(sim::NameOf(*pod));
    return names;
  }

  std::vector<std::string> chosen{"runs-0", "runs-1"};
  bool fails = false;
  int tried = 0;
  std::map<std::string, int> events;
};

}  // namespace

TEST_CASE("The next leader has the right to what was chosen by a gang's priority, though its pods' own is higher") {
  Told rig(EvictionCause::kPreempt);
  rig.AddGroup("runs", 1, "owner", {{"priorityClassName", "low"}});
  for (int i = 0; i < 16; ++i)
    rig.AddPod(fmt::format("runs-{}", i),
               {.priority_class = "top", .annotations = {{"scheduling.k8s.io/group-name", "runs"}}});
  rig.Pass(10'000);
  REQUIRE(rig.Bound() == 16);
  rig.FailOverWhileTaking();
  CHECK(rig.Leaving() == std::set<std::string>{"runs-0", "runs-1"});
}

TEST_CASE("The next leader has the right to what a queue takes back from a queue of another ecosystem") {
  Told rig(EvictionCause::kReclaim);
  for (int i = 0; i < 4; ++i) rig.AddPod(fmt::format("runs-{}", i), {.gang = "runs", .queue = "four"});
  rig.AddPod("rest", {.cpu = "12", .priority_class = "top"});
  rig.Pass(10'000);
  REQUIRE(rig.Bound() == 5);
  rig.FailOverWhileTaking();
  CHECK(rig.Leaving() == std::set<std::string>{"runs-0", "runs-1"});
}

TEST_CASE("Events tell of an eviction once, and only when it is done") {
  Told rig(EvictionCause::kReclaim);
  rig.AddQueue("lent", 64);
  rig.AddGroup("runs", 1, "lent");
  rig.AddMembers("runs", 0, 16);
  rig.Pass(10'000);
  REQUIRE(rig.Bound() == 16);
  rig.fails = true;
  rig.AddTaker();
  rig.Pass(5'000);
  REQUIRE(rig.tried > 4);
  CHECK(rig.events["Evict"] == 0);
  CHECK(rig.events["Preempted"] == 0);
  rig.fails = false;
  rig.Pass(5'000);
  CHECK(rig.events["Evict"] == 4);  // of each pod, and of its group
  CHECK(rig.events["Preempted"] == 2);
}

}  // namespace tutti::core
