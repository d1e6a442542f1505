// SPDX-License-Identifier: Apache-2.0
// Which pods go so that a gang fits: only those of lower priority, whole gangs or what they can spare, and none that
// does not help.
#include <algorithm>

#include "base/random.h"
#include "core/place/victim_choice.h"
#include "tests/support/catch.h"
#include "tests/support/victim_rig.h"

namespace tutti::core {
namespace {

using model::PodId;
using tests::json;

json Gpus(int count) { return {{"cpu", "1"}, {"nvidia.com/gpu", std::to_string(count)}}; }

void AddNode(VictimRig& rig, const std::string& name, int gpus, const std::string& rack = "r") {
  rig.cluster.AddNode({{"name", name},
                       {"labels", {{"rack", rack}, {"kubernetes.io/hostname", name}}},
                       {"allocatable", {{"nvidia.com/gpu", std::to_string(gpus)}, {"cpu", "100"}}}});
}

json Pod(const std::string& name, int gpus, int priority, json labels = json::object(), const char* node = nullptr) {
  json pod = {{"name", name},
              {"schedulerName", "s"},
              {"requests", Gpus(gpus)},
              {"priority", priority},
              {"labels", std::move(labels)}};
  if (node) pod["node"] = node;
  return pod;
}

// A gang of priority 10 that waits.
void AddTaker(VictimRig& rig, int members, int gpus) {
  for (int i = 0; i < members; ++i)
    rig.Add(Pod(fmt::format("t-{}", i), gpus, 10, {{"gang", "t"}, {"min", std::to_string(members)}}));
}

}  // namespace

TEST_CASE("As few go as are needed, of the lowest priority that is enough") {
  VictimRig rig;
  AddNode(rig, "a", 2);
  AddNode(rig, "b", 2);
  rig.Add(Pod("low-1", 1, 1, {}, "a"));
  rig.Add(Pod("mid-1", 1, 5, {}, "a"));
  rig.Add(Pod("low-2", 1, 1, {}, "b"));
  rig.Add(Pod("low-3", 1, 1, {}, "b"));
  AddTaker(rig, 2, 1);
  const VictimAnswer answer = rig.Ask(rig.GangOf("t"));
  REQUIRE(answer.fits);
  CHECK(rig.Names(answer).size() == 2);
  for (const std::string& name : rig.Names(answer)) CHECK(name.starts_with("low"));
  CHECK(answer.placements.size() == 2);
}

TEST_CASE("No pod goes for a gang of the same priority, and no eviction is useless") {
  VictimRig rig;
  AddNode(rig, "a", 2);
  rig.Add(Pod("equal", 1, 10, {}, "a"));
  rig.Add(Pod("low", 1, 1, {}, "a"));
  AddTaker(rig, 2, 1);
  const VictimAnswer answer = rig.Ask(rig.GangOf("t"));
  CHECK_FALSE(answer.fits);
  CHECK(answer.proven);
}

TEST_CASE("A refusal stands until others give something up") {
  VictimRig rig;
  AddNode(rig, "a", 2);
  const PodId equal = rig.Add(Pod("equal", 1, 10, {}, "a"));
  const PodId low = rig.Add(Pod("low", 1, 1, {}, "a"));
  AddTaker(rig, 2, 1);
  REQUIRE(rig.Ask(rig.GangOf("t")).proven);
  const uint64_t then = rig.evictable.now();
  rig.book.Leave(low);
  rig.cluster.state().DropPod(low);  // what it held could be had before
  rig.evictable.CatchUp();
  CHECK_FALSE(rig.evictable.MoreSince(then, 10));
  CHECK(rig.evictable.MoreSince(then, 1));
  rig.book.Leave(equal);
  rig.cluster.state().DropPod(equal);
  rig.evictable.CatchUp();
  CHECK(rig.evictable.MoreSince(then, 10));
}

TEST_CASE("Some pods never go: the system's, a DaemonSet's, and those that ask for it") {
  VictimRig rig;
  for (const char* node : {"a", "b", "c", "d"}) AddNode(rig, node, 1);
  json system = Pod("system", 1, 1, {}, "a");
  system["namespace"] = "kube-system";
  rig.Add(system);
  json daemon = Pod("daemon", 1, 1, {}, "b");
  daemon["owner"] = {{"apiVersion", "apps/v1"}, {"kind", "DaemonSet"}, {"name", "d"}, {"uid", "u"}};
  rig.Add(daemon);
  rig.Add(Pod("asks", 1, 1, {{"volcano.sh/preemptable", "false"}}, "c"));
  rig.Add(Pod("critical", 1, 2'000'000'000, {}, "d"));
  AddTaker(rig, 1, 1);
  CHECK(rig.Ask(rig.GangOf("t")).proven);
}

TEST_CASE("A gang gives what it can spare, the youngest first, and never its head; else all of it goes") {
  VictimRig rig;
  AddNode(rig, "a", 4);
  const json of_role = {{"gang", "ray"}, {"min", "2"}};
  const auto add = [&](const std::string& name, const char* role) {
    json labels = of_role;
    labels["role"] = role;
    json pod = Pod(name, 1, 1, labels, "a");
    rig.Add(pod);
  };
  add("head", "head");
  add("w-1", "worker");
  add("w-2", "worker");
  add("w-3", "worker");
  AddTaker(rig, 2, 1);
  CHECK(rig.Names(rig.Ask(rig.GangOf("t"))).size() == 2);
  for (const std::string& name : rig.Names(rig.Ask(rig.GangOf("t")))) CHECK(name.starts_with("w-"));

  AddNode(rig, "b", 0);
  for (int i = 2; i < 4; ++i) rig.Add(Pod(fmt::format("u-{}", i), 1, 10, {{"gang", "u"}, {"min", "3"}}));
  rig.Add(Pod("u-1", 1, 10, {{"gang", "u"}, {"min", "3"}}));
  CHECK(rig.Names(rig.Ask(rig.GangOf("u"))) == std::vector<std::string>{"head", "w-1", "w-2", "w-3"});
}

TEST_CASE("Hosts of one replica go together") {
  VictimRig rig;
  AddNode(rig, "a", 2);
  AddNode(rig, "b", 2);
  const auto labels = [](const char* unit) {
    return json{{"gang", "v"}, {"min", "2"}, {"unit-size", "2"}, {"unit-min", "1"}, {"unit", unit}};
  };
  rig.Add(Pod("x-0", 1, 1, labels("x"), "a"));
  rig.Add(Pod("x-1", 1, 1, labels("x"), "b"));
  rig.Add(Pod("y-0", 1, 1, labels("y"), "a"));
  rig.Add(Pod("y-1", 1, 1, labels("y"), "b"));
  AddTaker(rig, 1, 1);
  const std::vector<std::string> names = rig.Names(rig.Ask(rig.GangOf("t")));
  REQUIRE(names.size() == 2);
  CHECK(names[0].front() == names[1].front());
}

TEST_CASE("Where a gang is to be in one rack, no pod goes in another") {
  VictimRig rig;
  for (const auto& [name, rack] : {std::pair("a0", "a"), {"a1", "a"}, {"b0", "b"}, {"b1", "b"}}) {
    AddNode(rig, name, 2, rack);
    rig.Add(Pod(fmt::format("on-{}", name), 1, 1, {}, name));
  }
  rig.Add(Pod("high", 1, 20, {}, "a0"));
  AddTaker(rig, 4, 1);
  rig.book.at(rig.GangOf("t")).spec.topology.required = "rack";
  CHECK(rig.Names(rig.Ask(rig.GangOf("t"))) == std::vector<std::string>{"on-b0", "on-b1"});
}

TEST_CASE("What leaves already is waited for before any pod is told to go") {
  VictimRig rig;
  AddNode(rig, "a", 1);
  AddNode(rig, "b", 1);
  const PodId leaving = rig.Add(Pod("leaving", 1, 20, {}, "a"));
  auto pod = std::make_shared<model::Pod>(rig.PodOf(leaving));
  pod->meta.deleted_ms = 1;
  rig.cluster.state().ApplyPod(pod);
  rig.Add(Pod("low", 1, 1, {}, "b"));
  AddTaker(rig, 1, 1);
  CHECK(rig.Names(rig.Ask(rig.GangOf("t"))) == std::vector<std::string>{"leaving"});
}

TEST_CASE("What filters say beyond amounts is found out by the search") {
  VictimRig rig;
  AddNode(rig, "a", 8);
  AddNode(rig, "b", 8);
  json port = Pod("port", 1, 1, {}, "a");
  port["containers"] = json::array({{{"name", "c"},
                                     {"ports", json::array({{{"containerPort", 80}, {"hostPort", 80}}})},
                                     {"resources", {{"requests", Gpus(1)}}}}});
  rig.Add(port);
  rig.Add(Pod("other", 1, 1, {}, "a"));
  port["name"] = "high";
  port["node"] = "b";
  port["priority"] = 20;
  rig.Add(port);
  json taker = port;
  taker.erase("node");
  taker["name"] = "t-0";
  taker["priority"] = 10;
  taker["labels"] = {{"gang", "t"}, {"min", "1"}};
  rig.Add(taker);
  CHECK(rig.Names(rig.Ask(rig.GangOf("t"))) == std::vector<std::string>{"port"});
}

TEST_CASE("While room is kept for a pod that waits, that no victims help is no proof") {
  VictimRig rig;
  AddNode(rig, "a", 8);
  rig.Add(Pod("low", 4, 1, {}, "a"));
  const PodId other = rig.Add(Pod("other", 4, 200));
  rig.cluster.state().KeepNode(other, "a");
  AddTaker(rig, 1, 8);
  const VictimAnswer answer = rig.Ask(rig.GangOf("t"));
  CHECK_FALSE(answer.fits);
  CHECK_FALSE(answer.proven);
  rig.book.Leave(other);
  rig.cluster.state().DropPod(other);
  CHECK(rig.Names(rig.Ask(rig.GangOf("t"))) == std::vector<std::string>{"low"});
}

TEST_CASE("What many pods would lose is more than what one of them would, however much it is") {
  VictimRig rig;
  const auto slots = [](const std::string& name, int64_t count, int priority, const char* node = nullptr) {
    json pod = Pod(name, 0, priority, {}, node);
    pod["requests"] = {{"cpu", "1"}, {"example.com/slots", std::to_string(count)}};
    return pod;
  };
  constexpr int64_t kMany = 1 << 20;
  for (const char* node : {"a", "b"})
    rig.cluster.AddNode(
        {{"name", node}, {"allocatable", {{"example.com/slots", std::to_string(6 * kMany)}, {"cpu", "100"}}}});
  for (int i = 0; i < 6; ++i) rig.Add(slots(fmt::format("low-{}", i), kMany, 1, "a"));
  rig.Add(slots("one", 6 * kMany, 1, "b"));
  json taker = slots("t-0", 6 * kMany, 10);
  taker["labels"] = {{"gang", "t"}, {"min", "1"}};
  rig.Add(taker);
  CHECK(rig.Names(rig.Ask(rig.GangOf("t"))) == std::vector<std::string>{"one"});
}

TEST_CASE("A choice of victims spends what it may, and finds what it has looked at") {
  VictimRig rig;
  std::vector<model::NodeId> nodes;
  for (int n = 0; n < 100; ++n) {
    const std::string name = fmt::format("n-{:02}", n);
    AddNode(rig, name, 8);
    for (int i = 0; i < 8; ++i) rig.Add(Pod(fmt::format("low-{}-{}", n, i), 1, 1, {}, name.c_str()));
    nodes.push_back(rig.cluster.snapshot().FindNode(name));
  }
  AddTaker(rig, 2, 1);
  const model::GangId id = rig.GangOf("t");
  const auto census = rig.book.CensusOf(rig.book.at(id));
  const Problem problem = rig.planner.ProblemOf(census->pending, Require(rig.book.at(id), *census));
  const MemberAsks asks(problem, rig.rankings, rig.cluster.snapshot());
  VictimUnits units(rig.cluster.state(), rig.book, rig.clock);
  RightsByPriority rights(rig.book.Priority(rig.book.at(id)));
  units.Begin(rights);
  const std::vector<VictimUnit> found = units.On(nodes, 1, id);
  constexpr int64_t kMost = 20'000, kOneNode = 2'000;
  Budget budget(kMost);
  const auto chosen =
      VictimChoice(rig.cluster.state(), asks, {2}, nodes, found, budget)
          .Run([&](model::GangId gang, std::span<const size_t> parts) { return units.MayGo(gang, parts); }, rights);
  REQUIRE(chosen);
  CHECK(chosen->units.size() == 2);
  CHECK(budget.left() > -kOneNode);
}

TEST_CASE("Of very many that may go only those that help go, though each cannot be tried by itself") {
  VictimRig rig;
  constexpr int kRacks = 60, kNodes = 5, kPods = 4;
  for (int r = 0; r < kRacks; ++r)
    for (int n = 0; n < kNodes; ++n) {
      const std::string name = fmt::format("n-{}-{}", r, n);
      AddNode(rig, name, kPods, fmt::format("r{}", r));
      for (int i = 0; i < kPods; ++i)
        rig.Add(Pod(fmt::format("r{}-{}-{}", r, n, i), 1, 1, {{"app", "x"}}, name.c_str()));
    }
  json taker = Pod("t-0", 1, 10, {{"gang", "t"}, {"min", "1"}});
  taker["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].push_back(
      {{"topologyKey", "rack"}, {"labelSelector", {{"matchLabels", {{"app", "x"}}}}}});
  rig.Add(taker);
  const VictimAnswer answer = rig.Ask(rig.GangOf("t"));
  REQUIRE(answer.fits);
  CHECK_FALSE(answer.exhausted);
  const std::vector<std::string> names = rig.Names(answer);
  CHECK(names.size() == kNodes * kPods);
  for (const std::string& name : names) CHECK(name.substr(0, name.find('-')) == names[0].substr(0, names[0].find('-')));
}

namespace {

// One queue that has more than its due gives, as long as that is so, whatever the unit holds of it.
class FromOneQueue final : public RightsByPriority {
 public:
  FromOneQueue(size_t has, size_t due) : RightsByPriority(10), has_at_first_(has), due_(due), has_(has) {}
  bool MayTake(const VictimUnit&) override { return has_ > due_; }
  void Take(const VictimUnit& unit) override { has_ -= unit.pods.size(); }
  void GiveAllBack() override { has_ = has_at_first_; }

 private:
  const size_t has_at_first_, due_;
  size_t has_;
};

}  // namespace

TEST_CASE("Whether units may be taken together does not depend on the order in which they are named") {
  const auto unit = [](uint32_t first, uint32_t pods) {
    VictimUnit made;
    for (uint32_t i = 0; i < pods; ++i) made.pods.push_back(PodId(first + i));
    made.cost.pods = pods;
    return made;
  };
  std::vector<VictimUnit> units{unit(0, 6), unit(6, 1), unit(7, 1)};
  const auto by_pod = [](const VictimUnit& one) { return one.pods.front(); };
  do {
    FromOneQueue rights(10, 4);
    CHECK(rights.Suffice(units));
    FromOneQueue less(9, 7);
    CHECK_FALSE(less.Suffice(units));
  } while (std::ranges::next_permutation(units, {}, by_pod).found);
}

namespace {

// Nodes in racks, full of lone pods and gangs of four priorities, and a gang of priority 2 that wants some of it.
struct RandomCluster {
  explicit RandomCluster(uint64_t seed) : random(seed) {
    const size_t nodes = 2 + random.Below(5);
    for (size_t n = 0; n < nodes; ++n)
      AddNode(rig, fmt::format("n{}", n), 4, fmt::format("r{}", n % (1 + random.Below(3))));
    std::vector<int> free(nodes, 4);
    const size_t gangs = random.Below(4);
    for (size_t i = 0; i < 6 * nodes; ++i) {
      const size_t n = random.Below(nodes);
      const int gpus = 1 + static_cast<int>(random.Below(3));
      if (free[n] < gpus) continue;
      free[n] -= gpus;
      json labels = json::object();
      int priority = static_cast<int>(random.Below(4));
      if (const size_t gang = random.Below(2 * gangs + 1); gang < gangs) {
        labels = {{"gang", fmt::format("g{}", gang)}, {"min", std::to_string(1 + gang)}};
        if (heads.insert(gang).second) labels["role"] = "head";
        priority = static_cast<int>(gang % 3);
      }
      if (random.Below(12) == 0) labels["volcano.sh/preemptable"] = "false";
      rig.Add(Pod(fmt::format("p{}", i), gpus, priority, labels, fmt::format("n{}", n).c_str()));
    }
    const size_t members = 1 + random.Below(5);
    const bool apart = random.Below(4) == 0, head = random.Below(3) == 0;
    for (size_t m = 0; m < members; ++m) {
      json pod = Pod(fmt::format("t-{}", m), head && m == 0 ? 0 : 1 + static_cast<int>(seed % 3), 2,
                     {{"gang", "t"}, {"min", std::to_string(members)}});
      if (apart)
        pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].push_back(
            {{"topologyKey", "kubernetes.io/hostname"}, {"labelSelector", {{"matchLabels", {{"gang", "t"}}}}}});
      rig.Add(pod);
    }
    if (random.Below(3) == 0) rig.book.at(rig.GangOf("t")).spec.topology.required = "rack";
  }

  // All that may go for it, whatever gangs they break.
  std::set<PodId> AllBelow() const {
    std::set<PodId> pods;
    for (uint32_t slot = 0; slot < rig.cluster_state().pod_slots(); ++slot) {
      const cluster::PodEntry& entry = rig.cluster_state().pod(PodId(slot));
      if (entry.pod && entry.node && entry.pod->spec->priority < 2 && !NeverGoes(*entry.pod)) pods.insert(PodId(slot));
    }
    return pods;
  }
  // A gang some members of which never go gives only what it can spare.
  bool SomeGangsAreKept() const {
    for (uint32_t slot = 0; slot < rig.cluster_state().pod_slots(); ++slot) {
      const cluster::PodEntry& entry = rig.cluster_state().pod(PodId(slot));
      if (entry.pod && rig.book.GangOf(PodId(slot)) && NeverGoes(*entry.pod)) return true;
    }
    return false;
  }

  base::Random random;
  VictimRig rig;
  std::set<size_t> heads;
};

void CheckGangs(VictimRig& rig, const std::set<PodId>& gone) {
  rig.book.ForEach([&](model::GangId, Gang& gang) {
    int64_t left = 0, went = 0;
    bool head_went = false;
    for (const Member* member : gang.members) {
      if (!rig.PodOf(member->pod).bound()) return;
      const bool goes = gone.contains(member->pod);
      (goes ? went : left) += 1;
      head_went = head_went || (goes && member->head);
    }
    if (went == 0 || left == 0) return;
    CHECK_FALSE(head_went);
    CHECK(left >= gang.spec.min_member);
  });
}

}  // namespace

TEST_CASE(
    "In any cluster no eviction is useless, no victim could be spared, and those that may go are found where it "
    "helps") {
  size_t fits = 0, refused = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    RandomCluster random(seed);
    VictimRig& rig = random.rig;
    const model::GangId id = rig.GangOf("t");
    if (rig.FitsWithout(id, {})) continue;
    const VictimAnswer answer = rig.Ask(id);
    const bool would_fit = rig.FitsWithout(id, random.AllBelow());
    if (!answer.fits) {
      CHECK((!would_fit || random.SomeGangsAreKept()));
      ++refused;
      continue;
    }
    ++fits;
    CHECK_FALSE(answer.exhausted);
    const std::set<PodId> gone = VictimRig::PodsOf(answer.victims);
    CHECK(rig.FitsWithout(id, gone));
    for (const VictimUnit& unit : answer.victims) {
      CHECK_FALSE(rig.FitsWithout(id, VictimRig::PodsOf(answer.victims, &unit)));
      for (const PodId pod : unit.pods) {
        CHECK(rig.PodOf(pod).spec->priority < 2);
        CHECK_FALSE(NeverGoes(rig.PodOf(pod)));
      }
    }
    CheckGangs(rig, gone);
    CHECK(rig.Names(rig.Ask(id)) == rig.Names(answer));
  }
  CHECK(fits > 100);
  CHECK(refused > 20);
}

}  // namespace tutti::core
