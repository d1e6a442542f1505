// SPDX-License-Identifier: Apache-2.0
// A ranking asks of cells what nodes share. It says what asking every plugin about every node says.
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <algorithm>
#include <vector>

#include "base/json_fwd.h"
#include "base/random.h"
#include "framework/normalizer.h"
#include "framework/ranking.h"
#include "plugins/registry.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace {

using namespace tutti;
using framework::Normalizer;
using json = base::Json;
using model::NodeId;

// Every plugin asked about every node.
struct ByHand {
  ByHand(const framework::Profile& profile, const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot)
      : refused_by(snapshot.slots(), framework::kNobody), totals(snapshot.slots()) {
    for (uint32_t n = 0; n < refused_by.size(); ++n)
      if (!snapshot.present(NodeId(n))) refused_by[n] = framework::kAbsent;
    framework::RefusedBy mine = 0;
    for (const auto& filter : profile.filters)
      if (const auto state = filter->PrepareFilter(pod_class, snapshot)) state->CheckAll(++mine, refused_by);
    for (const framework::WeightedScore& score : profile.scores) {
      const auto state = score.plugin->PrepareScore(pod_class, snapshot);
      if (state) Add(*state, score);
    }
    for (uint32_t n = 0; n < refused_by.size(); ++n)
      if (Feasible(n) && (!best || totals[n] > totals[best.index()])) best = NodeId(n);
  }

  bool Feasible(size_t slot) const { return refused_by[slot] == framework::kNobody; }

  std::vector<framework::RefusedBy> refused_by;
  std::vector<int64_t> totals;
  NodeId best;

 private:
  void Add(framework::ScoreState& state, const framework::WeightedScore& score) {
    if (state.FollowsFeasible()) state.FeasibleChanged(refused_by);
    const framework::Normalize kind = score.plugin->normalize();
    Normalizer::Extremes extremes;
    bool any = false;
    std::vector<int64_t> raw(refused_by.size());
    for (uint32_t n = 0; n < raw.size(); ++n) {
      if (!Feasible(n)) continue;
      raw[n] = state.Score(NodeId(n));
      if (!Normalizer::Counts(kind, raw[n])) continue;
      extremes.max = any ? std::max(extremes.max, raw[n]) : raw[n];
      extremes.min = any ? std::min(extremes.min, raw[n]) : raw[n];
      any = true;
    }
    for (uint32_t n = 0; n < raw.size(); ++n)
      if (Feasible(n)) totals[n] += score.weight * Normalizer::ShareOf(kind, raw[n], extremes);
  }
};

class World {
 public:
  explicit World(uint64_t seed) : random_(seed), nodes_(random_.OneIn(3) ? 120 : 12), preferred_(random_.OneIn(4)) {
    cluster_.snapshot().namespaces().Put("default", {});
    for (uint64_t i = 0; i < nodes_; ++i) PutNode(i);
  }

  const cluster::Snapshot& snapshot() { return cluster_.snapshot(); }
  base::Random& random() { return random_; }

  json Spec() {
    json spec = {{"labels", {{"app", App()}}}, {"requests", {{"cpu", "1"}}}};
    for (const char* key : {"zone", "kubernetes.io/hostname", "rack"}) {
      if (random_.OneIn(2)) continue;
      json spread = {{"maxSkew", random_.Between(1, 3)},
                     {"topologyKey", key},
                     {"labelSelector", {{"matchLabels", {{"app", App()}}}}},
                     {"whenUnsatisfiable", random_.OneIn(2) ? "DoNotSchedule" : "ScheduleAnyway"}};
      if (random_.OneIn(3)) spread["nodeTaintsPolicy"] = "Honor";
      spec["topologySpreadConstraints"].push_back(spread);
    }
    if (random_.OneIn(4))
      spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json::array(
          {{{"topologyKey", "kubernetes.io/hostname"}, {"labelSelector", {{"matchLabels", {{"app", App()}}}}}}});
    return spec;
  }
  std::shared_ptr<const cluster::PodClass> Class(const json& spec) {
    return cluster_.state().pod(cluster_.AddPod(spec)).pod_class;
  }
  void Place(json spec, NodeId n) {
    spec["node"] = snapshot().node(n).name;
    pods_.push_back(cluster_.AddPod(spec));
  }
  void Disturb() {
    if (random_.OneIn(6)) PutNode(random_.Below(nodes_));
    if (random_.OneIn(12)) cluster_.state().DropNode(fmt::format("node-{}", random_.Below(nodes_)));
    if (random_.OneIn(4) && !pods_.empty()) {
      std::swap(pods_[random_.Below(pods_.size())], pods_.back());
      cluster_.state().DropPod(pods_.back());
      pods_.pop_back();
    }
  }

 private:
  std::string App() { return random_.OneIn(2) ? "a" : "b"; }
  void PutNode(uint64_t i) {
    json node = {{"name", fmt::format("node-{}", i)},
                 {"allocatable", {{"cpu", std::to_string(random_.Between(1, 6))}}}};
    if (!random_.OneIn(9)) node["labels"]["zone"] = fmt::format("z{}", random_.Below(3));
    if (!random_.OneIn(9)) node["labels"]["kubernetes.io/hostname"] = node["name"];
    // Racks may make more cells than a ranking keeps.
    if (!random_.OneIn(9)) node["labels"]["rack"] = random_.OneIn(2) ? "r" : fmt::format("r{}", i);
    if (random_.OneIn(8))
      node["taints"] = json::array({{{"key", "t"}, {"effect", preferred_ ? "PreferNoSchedule" : "NoSchedule"}}});
    cluster_.AddNode(node);
  }

  base::Random random_;
  const uint64_t nodes_;
  const bool preferred_;  // some node has a taint that is a matter of score
  tests::TestCluster cluster_;
  std::vector<model::PodId> pods_;
};

void CheckSame(const framework::Ranking& ranking, const ByHand& by_hand, const cluster::Snapshot& snapshot) {
  size_t feasible = 0;
  for (uint32_t n = 0; n < snapshot.slots(); ++n) {
    if (!snapshot.present(NodeId(n))) continue;
    feasible += by_hand.Feasible(n);
    RC_ASSERT(ranking.Feasible(NodeId(n)) == by_hand.Feasible(n));
    if (by_hand.Feasible(n)) RC_ASSERT(ranking.Total(NodeId(n)) == by_hand.totals[n]);
  }
  RC_ASSERT(ranking.feasible_count() == feasible);
  RC_ASSERT(ranking.Best() == by_hand.best);
}

}  // namespace

TEST_CASE("a ranking with spread says what every plugin says of every node") {
  rc::prop("placing the best, again and again, while nodes and pods come and go", [](uint64_t seed) {
    const framework::Profile profile = plugins::DefaultProfile("s");
    World world(seed);
    std::vector<json> specs;
    std::vector<std::shared_ptr<const cluster::PodClass>> classes;
    std::vector<std::unique_ptr<framework::Ranking>> rankings;
    for (int i = 0; i < 4; ++i) {
      specs.push_back(world.Spec());
      classes.push_back(world.Class(specs.back()));
      rankings.push_back(std::make_unique<framework::Ranking>(profile, *classes.back(), world.snapshot()));
    }
    for (int step = 0; step < 40; ++step) {
      const size_t i = world.random().Below(rankings.size());
      rankings[i]->Refresh();
      CheckSame(*rankings[i], ByHand(profile, *classes[i], world.snapshot()), world.snapshot());
      if (rankings[i]->Best()) world.Place(specs[i], rankings[i]->Best());
      world.Disturb();
    }
  });
}
