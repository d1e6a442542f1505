// SPDX-License-Identifier: Apache-2.0
// What a search for the victims of a lone pod has found is kept for the next pod of the class: it is always what a
// search that knows nothing would find, and only nodes that changed are asked about.
#include "core/place/lone_preemption.h"

#include <fmt/format.h>

#include <functional>

#include "base/random.h"
#include "tests/support/catch.h"
#include "tests/support/victim_rig.h"

namespace tutti::core {
namespace {

using model::NodeId;
using model::PodId;
using tests::json;

struct FullNodes : VictimRig {
  explicit FullNodes(std::shared_ptr<const framework::Filter> filter = nullptr) {
    if (filter) profiles.front().filters.push_back(std::move(filter));
  }

  PreemptionResult Ask(LonePreemption& by, PodId pod, uint32_t from, int32_t most) {
    framework::Ranking& ranking = rankings.For(cluster.state().pod(pod).pod_class);
    return by.Search({.pod = pod, .args = {0, most}, .from = from, .shuns = nullptr}, ranking);
  }
  // Asks one that knows nothing yet.
  PreemptionResult AskFresh(PodId pod, uint32_t from, int32_t most) {
    LonePreemption fresh(cluster.state(), planner.what_if(), victims, &gangs);
    return Ask(fresh, pod, from, most);
  }
  void Drop(PodId pod) {
    book.Leave(pod);
    cluster.state().DropPod(pod);
  }
  // The pod, changed.
  void Change(PodId id, const std::function<void(model::Pod&)>& change) {
    auto pod = std::make_shared<model::Pod>(*cluster.state().pod(id).pod);
    change(*pod);
    cluster.state().ApplyPod(std::move(pod));
    cluster.state().Reclassify();
  }

  VictimTable victims{cluster.state()};
  GangVictims gangs{cluster.state(), book};
  LonePreemption lone{cluster.state(), planner.what_if(), victims, &gangs};
};

json BriefOf(const std::string& name, int cpu, int priority, const std::string& node = {}) {
  json pod = {{"name", name},
              {"schedulerName", "s"},
              {"requests", {{"cpu", std::to_string(cpu)}}},
              {"priority", priority},
              {"labels", {{"app", priority % 2 == 0 ? "a" : "b"}}}};
  if (!node.empty()) pod["node"] = node;
  return pod;
}

// Nodes, pods, budgets and nominations that come, go and change.
class Changing {
 public:
  explicit Changing(uint64_t seed) : random_(seed) {
    for (size_t n = 0; n < kNodes; ++n) PutNode(n);
    json apart = BriefOf("apart", 2, 9);
    apart["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json::array(
        {{{"topologyKey", "kubernetes.io/hostname"}, {"labelSelector", {{"matchLabels", {{"app", "b"}}}}}}});
    for (const json& one : {BriefOf("small", 3, 9), BriefOf("large", 8, 9), BriefOf("lower", 5, 2), apart})
      askers_.push_back(full_.cluster.AddPod(one));
    for (int i = 0; i < 3; ++i)
      nominated_.push_back(full_.cluster.AddPod(BriefOf(fmt::format("kept-{}", i), 2, 5 + 4 * (i % 2))));
    for (int i = 0; i < 4; ++i) held_.push_back(full_.cluster.AddPod(BriefOf(fmt::format("held-{}", i), 3, 4)));
  }

  void Step() {
    switch (random_.Below(14)) {
      case 0: return Drop();
      case 1: return Start();
      case 2: return PutBudget();
      case 3: return Nominate();
      case 4: return PutNode(random_.Below(kNodes));
      case 5: return DropNode();
      case 6: return BindApart();
      case 7: return Hold();
      case 8: return HandOver();
      case 9: return SetVictim();
      default: return Bind();
    }
  }
  void Check() {
    full_.book.ForEach([](model::GangId, Gang& gang) { gang.census.reset(); });
    const PodId asker = askers_[random_.Below(askers_.size())];
    const auto from = static_cast<uint32_t>(random_.Below(2 * kNodes));
    const int32_t most = random_.OneIn(2) ? 2 : 100;
    const PreemptionResult known = full_.Ask(full_.lone, asker, from, most), fresh = full_.AskFresh(asker, from, most);
    CHECK(known.outcome == fresh.outcome);
    CHECK(known.chosen.node == fresh.chosen.node);
    CHECK(known.chosen.victims == fresh.chosen.victims);
    CHECK(known.chosen.violations == fresh.chosen.violations);
    CHECK(known.refused == fresh.refused);
    found += fresh.outcome == PreemptionResult::Outcome::kFound;
    full_.cluster.state().Audit();
  }

  size_t found = 0;

 private:
  static constexpr size_t kNodes = 6;
  static constexpr model::GangId kTaker{1000};
  static std::string NameOf(size_t n) { return fmt::format("n{}", n); }

  void PutNode(size_t n) {
    json taints = json::array();
    if (random_.OneIn(4)) taints.push_back({{"key", "k"}, {"value", "v"}, {"effect", "NoSchedule"}});
    full_.cluster.AddNode({{"name", NameOf(n)},
                           {"labels", {{"kubernetes.io/hostname", NameOf(n)}}},
                           {"taints", taints},
                           {"allocatable", {{"cpu", random_.OneIn(3) ? "8" : "10"}}}});
  }
  void DropNode() { full_.cluster.state().DropNode(NameOf(random_.Below(kNodes))); }
  void Bind() {
    const std::string name = fmt::format("p{}", made_++);
    json pod = BriefOf(name, 1 + static_cast<int>(random_.Below(4)), static_cast<int>(random_.Below(4)),
                       NameOf(random_.Below(kNodes)));
    if (random_.OneIn(3)) {
      pod["labels"]["gang"] = fmt::format("g{}", random_.Below(3));
      pod["labels"]["min"] = "2";
    }
    bound_.push_back(full_.Add(pod));
  }
  void Hold() {
    const PodId pod = held_[random_.Below(held_.size())];
    cluster::ClusterState& state = full_.cluster.state();
    const NodeId n = state.snapshot().FindNode(NameOf(random_.Below(kNodes)));
    if (state.pod(pod).reserved)
      state.Release(pod);
    else if (n)
      state.Reserve(pod, n, {}, random_.OneIn(2) ? kTaker : model::GangId());
  }
  void HandOver() {
    const PodId from = held_[random_.Below(held_.size())], to = held_[random_.Below(held_.size())];
    const auto reserved = [this](PodId pod) { return full_.cluster.state().pod(pod).reserved; };
    if (reserved(from) && !reserved(to)) full_.cluster.state().HandOver(from, to);
  }
  void SetVictim() {
    if (bound_.empty()) return;
    const PodId pod = bound_[random_.Below(bound_.size())];
    const cluster::PodEntry& entry = full_.cluster.state().pod(pod);
    if (entry.node) full_.cluster.state().SetVictim(pod, entry.victim_of ? model::GangId() : kTaker);
  }
  void BindApart() {
    json pod = BriefOf(fmt::format("p{}", made_++), 1, 1, NameOf(random_.Below(kNodes)));
    pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json::array(
        {{{"topologyKey", "kubernetes.io/hostname"}, {"labelSelector", {{"matchLabels", {{"app", "b"}}}}}}});
    bound_.push_back(full_.Add(pod));
  }
  void Drop() {
    if (bound_.empty()) return;
    const size_t i = random_.Below(bound_.size());
    full_.Drop(bound_[i]);
    bound_.erase(bound_.begin() + static_cast<ptrdiff_t>(i));
  }
  void Start() {
    if (bound_.empty()) return;
    const auto at = static_cast<base::Millis>(1 + random_.Below(1000));
    full_.Change(bound_[random_.Below(bound_.size())], [&](model::Pod& pod) {
      if (at % 3 == 0)
        pod.meta.deleted_ms = at;
      else
        pod.started_ms = at;
    });
  }
  void Nominate() {
    const PodId pod = nominated_[random_.Below(nominated_.size())];
    full_.cluster.state().KeepNode(pod, random_.OneIn(3) ? std::string() : NameOf(random_.Below(kNodes)));
  }
  void PutBudget() {
    const char* app = random_.OneIn(2) ? "a" : "b";
    const json budget = {{"apiVersion", "policy/v1"},
                         {"kind", "PodDisruptionBudget"},
                         {"metadata", {{"name", app}, {"namespace", "default"}}},
                         {"spec", {{"selector", {{"matchLabels", {{"app", app}}}}}}},
                         {"status", {{"disruptionsAllowed", random_.Below(3)}}}};
    const auto object = cluster::DecodeObject(cluster::Budgets::Kind(), std::make_shared<const json>(budget));
    REQUIRE(object);
    std::vector<std::string> problems;
    full_.cluster.state().budgets().Put(*object, &problems);
    REQUIRE(problems.empty());
  }

  base::Random random_;
  FullNodes full_;
  std::vector<PodId> askers_, nominated_, bound_, held_;  // held_: of one class
  int made_ = 0;
};

// Fits everywhere, and counts how often it is asked.
class CountsQuestions final : public framework::Filter {
 public:
  explicit CountsQuestions(int64_t& asked) : asked_(asked) {}
  std::string_view name() const override { return "CountsQuestions"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override {
    return std::make_unique<State>(asked_);
  }
  framework::Wake WakesOn() const override { return framework::Wake::kNothing; }

 private:
  struct State final : framework::FilterState {
    explicit State(int64_t& count) : asked(count) {}
    framework::Verdict Check(NodeId) const override {
      ++asked;
      return framework::Verdict::kFits;
    }
    void Explain(NodeId, std::vector<std::string>*) const override {}
    bool DependsOnNodePods() const override { return false; }
    int64_t& asked;
  };
  int64_t& asked_;
};

}  // namespace

TEST_CASE("What is kept of a class of preemptors is what a search that knows nothing would find") {
  size_t found = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    Changing changing(seed);
    for (int i = 0; i < 30; ++i) changing.Step();
    for (int i = 0; i < 150; ++i) {
      changing.Check();
      changing.Step();
    }
    found += changing.found;
  }
  CHECK(found > 500);
}

TEST_CASE("What leaves for a gang makes no room for a pod beside what is reserved in its stead") {
  FullNodes full;
  const model::GangId gang(7);
  cluster::ClusterState& state = full.cluster.state();
  const NodeId n = full.cluster.AddNode({{"name", "n"}, {"allocatable", {{"cpu", "16"}}}});
  const PodId leaves = full.cluster.AddPod(BriefOf("leaves", 8, 0, "n"));
  const PodId lower = full.cluster.AddPod(BriefOf("lower", 4, 0, "n"));
  full.cluster.AddPod(BriefOf("stays", 4, 20, "n"));
  const PodId large = full.cluster.AddPod(BriefOf("large", 12, 9)), small = full.cluster.AddPod(BriefOf("small", 4, 9));
  CHECK(full.Ask(full.lone, large, 0, 100).chosen.victims.size() == 2);
  state.SetVictim(leaves, gang);
  state.Reserve(full.cluster.AddPod(BriefOf("reserved", 8, 20)), n, {}, gang);
  CHECK(full.Ask(full.lone, large, 0, 100).outcome == PreemptionResult::Outcome::kNoCandidate);
  CHECK(full.Ask(full.lone, small, 0, 100).chosen.victims == std::vector<PodId>{lower});
}

TEST_CASE("A node counts as changed by a pod that is nominated for it only if the pod asks for something else then") {
  FullNodes full;
  const NodeId n = full.cluster.AddNode({{"name", "n"}});
  const PodId kept = full.cluster.AddPod(BriefOf("kept", 2, 5));
  const auto version = [&] { return full.cluster.state().pods_version(n); };
  uint64_t before = version();
  full.cluster.state().KeepNode(kept, "n");
  CHECK(version() != before);
  before = version();
  full.cluster.state().KeepNode(kept, "n");
  full.Change(kept, [](model::Pod& pod) { pod.meta.resource_version = "2"; });
  CHECK(version() == before);
  full.Change(kept, [](model::Pod& pod) {
    auto spec = std::make_shared<model::PodSpec>(*pod.spec);
    spec->priority = 7;
    pod.spec = std::move(spec);
  });
  CHECK(version() != before);
}

TEST_CASE("After a preemption the next pod of the class asks about the nodes that changed") {
  constexpr int32_t kNodes = 50;
  int64_t asked = 0;
  FullNodes full(std::make_shared<CountsQuestions>(asked));
  std::vector<PodId> low;
  for (int n = 0; n < kNodes; ++n) {
    const std::string node = fmt::format("n{}", n);
    full.cluster.AddNode({{"name", node}});
    low.push_back(full.cluster.AddPod(BriefOf(fmt::format("low-{}", n), 10, 0, node)));
  }
  const PodId pod = full.cluster.AddPod(BriefOf("high", 10, 9));
  const auto ask = [&] {
    asked = 0;
    return full.Ask(full.lone, pod, 0, kNodes);
  };
  for (int i = 0; i < 2; ++i) {
    CHECK(ask().chosen.victims.size() == 1);
    CHECK(asked >= kNodes);
  }
  full.cluster.state().DropPod(low[7]);
  full.cluster.AddPod(BriefOf("took-its-place", 10, 0, "n7"));
  CHECK(ask().outcome == PreemptionResult::Outcome::kFound);
  CHECK(asked < kNodes / 5);
}

}  // namespace tutti::core
