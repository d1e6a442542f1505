// SPDX-License-Identifier: Apache-2.0
// Whatever happened to the cluster, a ranking that followed it says what a ranking made now says.
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <algorithm>

#include "base/json_fwd.h"
#include "base/random.h"
#include "cluster/what_if.h"
#include "framework/ranking.h"
#include "plugins/registry.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace {

using namespace tutti;
using json = base::Json;

// A cluster that lives: nodes come, change and go, pods come and go.
class Churn {
 public:
  // `plain`: nearly no pod has to do with another, with a volume or with a port.
  explicit Churn(uint64_t seed, uint64_t names = 20, bool plain = false) : random_(seed), names_(names), plain_(plain) {
    for (const char* name : {"default", "other"}) cluster_.snapshot().namespaces().Put(name, {{"team", name}});
    for (uint64_t i = 0; i < names; ++i) PutNode();
  }

  void Step() {
    if (random_.OneIn(40)) cluster_.snapshot().namespaces().Put("other", {{"team", Pick("team", 2)}});
    if (random_.OneIn(30)) racks_ = !racks_;
    switch (random_.Below(10)) {
      case 0: return PutNode();
      case 1: return DropNode();
      case 2:
      case 3: return DropPod();
      default: return AddPod();
    }
  }

  tests::TestCluster& cluster() { return cluster_; }
  base::Random& random() { return random_; }

  json Spec() {
    json spec = {
        {"requests", {{"cpu", std::to_string(random_.Below(4))}, {"memory", fmt::format("{}Gi", random_.Below(4))}}}};
    if (random_.OneIn(3)) spec["requests"]["nvidia.com/gpu"] = std::to_string(random_.Below(3));
    if (random_.OneIn(3)) spec["tolerations"] = json::array({{{"key", Pick("t", 3)}, {"operator", "Exists"}}});
    if (random_.OneIn(3)) spec["nodeSelector"] = {{"zone", Pick("z", 3)}};
    if (random_.OneIn(4)) spec["requests"].erase("memory");  // then the scores count a default
    const bool plain = plain_ && !random_.OneIn(12);
    const std::string image = random_.OneIn(2) ? (plain ? "image-rare" : Pick("image", 4)) : "";
    json container = {{"name", "c"}, {"image", image}, {"resources", {{"requests", spec["requests"]}}}};
    if (!plain && random_.OneIn(3))
      container["ports"] = json::array({{{"containerPort", 1}, {"hostPort", 8000 + random_.Below(2)}}});
    spec["containers"] = json::array({container});
    if (random_.OneIn(2))
      spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = Preferred();
    spec["namespace"] = random_.OneIn(3) ? "other" : "default";
    for (const char* key : {"app", "tier", "unread"})
      if (random_.OneIn(2)) spec["labels"][key] = Pick("v", 2);
    if (plain) return spec;
    for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
      if (random_.OneIn(5))
        spec["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"] = json::array({PodTerm()});
      if (random_.OneIn(5))
        spec["affinity"][kind]["preferredDuringSchedulingIgnoredDuringExecution"] =
            json::array({{{"weight", random_.Between(1, 100)}, {"podAffinityTerm", PodTerm()}}});
    }
    for (uint64_t i = random_.OneIn(3) ? 2 : 0; i > 0; --i) spec["topologySpreadConstraints"].push_back(Spread());
    return spec;
  }

 private:
  std::string Pick(const char* what, uint64_t of) { return fmt::format("{}{}", what, random_.Below(of)); }

  json Preferred() {
    json terms = json::array();
    for (uint64_t i = 0; i <= random_.Below(3); ++i)
      terms.push_back(
          {{"weight", random_.Between(1, 100)},
           {"preference",
            {{"matchExpressions", json::array({{{"key", "zone"}, {"operator", "In"}, {"values", {Pick("z", 3)}}}})}}}});
    return terms;
  }

  std::string TopologyKey() {
    if (random_.OneIn(4)) return "rack";
    return random_.OneIn(2) ? "zone" : "kubernetes.io/hostname";
  }
  json Selector() { return {{"matchLabels", {{random_.OneIn(2) ? "app" : "tier", Pick("v", 2)}}}}; }

  json PodTerm() {
    json term = {{"topologyKey", TopologyKey()}, {"labelSelector", Selector()}};
    if (random_.OneIn(3)) term["namespaces"] = json::array({"other"});
    if (random_.OneIn(3))
      term["namespaceSelector"] = random_.OneIn(2) ? json::object() : json{{"matchLabels", {{"team", "team0"}}}};
    return term;
  }
  json Spread() {
    json spread = {{"maxSkew", random_.Between(1, 3)},
                   {"topologyKey", TopologyKey()},
                   {"labelSelector", random_.OneIn(4) ? json::object() : Selector()},
                   {"whenUnsatisfiable", random_.OneIn(2) ? "DoNotSchedule" : "ScheduleAnyway"}};
    if (random_.OneIn(3)) spread["nodeTaintsPolicy"] = "Honor";
    if (random_.OneIn(3)) spread["nodeAffinityPolicy"] = "Ignore";
    if (random_.OneIn(3)) spread["matchLabelKeys"] = json::array({"app"});
    if (spread["whenUnsatisfiable"] == "DoNotSchedule" && random_.OneIn(3))
      spread["minDomains"] = random_.Between(1, 4);
    return spread;
  }

  void PutNode() {
    json node = {{"name", fmt::format("node-{}", random_.Below(names_))}};
    if (!random_.OneIn(6)) node["labels"]["zone"] = Pick("z", 3);
    if (!random_.OneIn(6)) node["labels"]["kubernetes.io/hostname"] = node["name"];
    if (racks_ && random_.OneIn(3)) node["labels"]["rack"] = Pick("r", 2);
    node["allocatable"] = {{"cpu", std::to_string(random_.Below(9))},
                           {"memory", fmt::format("{}Gi", random_.Below(9))},
                           {"pods", std::to_string(random_.Below(6))},
                           {"nvidia.com/gpu", std::to_string(random_.Below(3))}};
    if (random_.OneIn(3))
      node["taints"] =
          json::array({{{"key", Pick("t", 3)}, {"effect", random_.OneIn(2) ? "NoSchedule" : "PreferNoSchedule"}}});
    if (random_.OneIn(8)) node["unschedulable"] = true;
    for (uint64_t i = random_.Below(4); i > 0; --i)
      node["images"].push_back(
          {{"names", {Pick("image", 4) + ":latest"}}, {"sizeBytes", random_.Between(1, 2'000'000'000)}});
    if (plain_ && random_.OneIn(25))
      node["images"].push_back({{"names", {"image-rare:latest"}}, {"sizeBytes", random_.Between(1, 2'000'000'000)}});
    cluster_.AddNode(node);
  }
  void DropNode() {
    if (cluster_.snapshot().node_count() > 3) cluster_.state().DropNode(fmt::format("node-{}", random_.Below(names_)));
  }
  void AddPod() {
    json spec = Spec();
    spec["node"] = fmt::format("node-{}", random_.Below(names_));
    pods_.push_back(cluster_.AddPod(spec));
  }
  void DropPod() {
    if (pods_.empty()) return;
    const size_t at = random_.Below(pods_.size());
    cluster_.state().DropPod(pods_[at]);
    pods_.erase(pods_.begin() + static_cast<ptrdiff_t>(at));
  }

  base::Random random_;
  const uint64_t names_;  // of nodes
  const bool plain_;
  bool racks_ = false;  // nodes may have one from now on; at first none has
  tests::TestCluster cluster_;
  std::vector<model::PodId> pods_;
};

// The node that wins, found by looking at each.
model::NodeId BestByHand(const framework::Ranking& ranking, const cluster::Snapshot& snapshot) {
  model::NodeId best;
  for (uint32_t n = 0; n < snapshot.slots(); ++n) {
    const model::NodeId id(n);
    if (snapshot.present(id) && ranking.Feasible(id) && (!best || ranking.Total(id) > ranking.Total(best))) best = id;
  }
  return best;
}

// What kube-scheduler would say, from the filters alone.
std::string SentenceByHand(const framework::Profile& profile, const cluster::PodClass& pod_class,
                           const cluster::Snapshot& snapshot) {
  std::map<std::string, int> count;
  for (uint32_t n = 0; n < snapshot.slots(); ++n) {
    if (!snapshot.present(model::NodeId(n))) continue;
    for (const auto& filter : profile.filters) {
      const auto state = filter->PrepareFilter(pod_class, snapshot);
      if (!state || state->Check(model::NodeId(n)) == framework::Verdict::kFits) continue;
      std::vector<std::string> reasons;
      state->Explain(model::NodeId(n), &reasons);
      for (const std::string& reason : reasons) ++count[reason];
      break;
    }
  }
  std::vector<std::string> parts;
  for (const auto& [reason, nodes] : count) parts.push_back(fmt::format("{} {}", nodes, reason));
  std::ranges::sort(parts);
  return fmt::format("0/{} nodes are available: {}.", snapshot.node_count(), fmt::join(parts, ", "));
}

void CheckSameNodes(const framework::Ranking& followed, const framework::Ranking& fresh,
                    const cluster::Snapshot& snapshot) {
  RC_ASSERT(followed.feasible_count() == fresh.feasible_count());
  for (uint32_t n = 0; n < snapshot.slots(); ++n) {
    const model::NodeId id(n);
    if (!snapshot.present(id)) continue;
    RC_ASSERT(followed.Feasible(id) == fresh.Feasible(id));
    if (!fresh.Feasible(id)) continue;
    RC_ASSERT(followed.Total(id) == fresh.Total(id));
    int64_t sum = 0;
    for (const framework::NodeScore& score : followed.Scores(id)) {
      RC_ASSERT(score.normalized >= 0);
      RC_ASSERT(score.normalized <= framework::kMaxNodeScore);
      sum += score.weighted;
    }
    RC_ASSERT(sum == followed.Total(id));
  }
  RC_ASSERT(followed.Best() == fresh.Best());
  RC_ASSERT(followed.Best() == BestByHand(followed, snapshot));
  RC_ASSERT(followed.Explain().Sentence() == fresh.Explain().Sentence());
}

void CheckSame(framework::Ranking& followed, framework::Ranking fresh, const cluster::Snapshot& snapshot) {
  const std::span<const int32_t> rooms = followed.Rooms();
  RC_ASSERT(std::ranges::equal(rooms, fresh.Rooms()));
  RC_ASSERT(followed.total_room() == fresh.total_room());
  CheckSameNodes(followed, fresh, snapshot);
}

void FollowAndCompare(uint64_t seed, uint64_t nodes, int steps) {
  const framework::Profile profile = plugins::DefaultProfile("s");
  Churn churn(seed, nodes);
  const cluster::Snapshot& snapshot = churn.cluster().snapshot();
  std::vector<std::shared_ptr<const cluster::PodClass>> classes;
  std::vector<std::unique_ptr<framework::Ranking>> rankings;
  const auto workspace = framework::Ranking::MakeWorkspace();  // as those of one scheduler have
  for (int i = 0; i < 4; ++i) {
    const model::PodId pod = churn.cluster().AddPod(churn.Spec());
    classes.push_back(churn.cluster().state().pod(pod).pod_class);
    rankings.push_back(std::make_unique<framework::Ranking>(profile, *classes.back(), snapshot, workspace));
  }
  for (int step = 0; step < steps; ++step) {
    for (uint64_t i = 0; i <= churn.random().Below(4); ++i) churn.Step();
    for (auto& ranking : rankings) {
      if (churn.random().OneIn(3)) continue;  // some lag behind
      ranking->Refresh();
      CheckSame(*ranking, framework::Ranking(profile, ranking->pod_class(), snapshot, workspace), snapshot);
    }
  }
  for (auto& ranking : rankings) {
    ranking->Refresh();
    RC_ASSERT(ranking->Explain().Sentence() == SentenceByHand(profile, ranking->pod_class(), snapshot));
  }
}

}  // namespace

TEST_CASE("a ranking that followed the cluster equals one made now") {
  rc::prop("after any nodes and pods came, changed and went", [](uint64_t seed) { FollowAndCompare(seed, 20, 40); });
  rc::prop("where few of many nodes change at a time", [](uint64_t seed) { FollowAndCompare(seed, 400, 8); });
}

// Some begin so, others come to it, and some do not for what their classes ask.
void FollowByGroups(uint64_t seed, uint64_t nodes, int steps) {
  const framework::Profile profile = plugins::PackingProfile("s");
  Churn churn(seed, nodes, true);
  const cluster::Snapshot& snapshot = churn.cluster().snapshot();
  std::vector<std::shared_ptr<const cluster::PodClass>> classes;
  std::vector<std::unique_ptr<framework::Ranking>> rankings;
  const auto workspace = framework::Ranking::MakeWorkspace();
  for (int i = 0; i < 6; ++i) {
    const model::PodId pod = churn.cluster().AddPod(churn.Spec());
    classes.push_back(churn.cluster().state().pod(pod).pod_class);
    rankings.push_back(std::make_unique<framework::Ranking>(
        profile, *classes.back(), snapshot, workspace,
        i % 2 == 0 ? framework::Ranking::Keep::kGroups : framework::Ranking::Keep::kNodes));
  }
  for (int step = 0; step < steps; ++step) {
    for (uint64_t i = 0; i <= churn.random().Below(4); ++i) churn.Step();
    for (auto& ranking : rankings) {
      if (churn.random().OneIn(3)) continue;  // some lag behind
      if (churn.random().OneIn(5)) ranking->KeepGroups();
      ranking->Refresh();
      const framework::Ranking fresh(profile, ranking->pod_class(), snapshot, workspace);
      CheckSameNodes(*ranking, fresh, snapshot);
      if (ranking->pod_class().spec->spread.empty()) RC_ASSERT(ranking->WakesOn() == fresh.WakesOn());
      for (uint32_t n = 0; n < snapshot.slots(); ++n) {
        if (!snapshot.present(model::NodeId(n))) continue;
        RC_ASSERT(ranking->Explain(model::NodeId(n)).plugin == fresh.Explain(model::NodeId(n)).plugin);
      }
    }
  }
  for (auto& ranking : rankings) {
    ranking->Refresh();
    CheckSame(*ranking, framework::Ranking(profile, ranking->pod_class(), snapshot, workspace), snapshot);
  }
}

TEST_CASE("a ranking that is kept by groups of nodes says what one says that is kept by nodes") {
  rc::prop("after any nodes and pods came, changed and went", [](uint64_t seed) { FollowByGroups(seed, 20, 40); });
  rc::prop("where few of many nodes change at a time", [](uint64_t seed) { FollowByGroups(seed, 400, 8); });
}

TEST_CASE("a ranking that is kept by groups takes memory by groups, until it is asked for rooms") {
  tests::TestCluster cluster;
  for (int i = 0; i < 5'000; ++i)
    cluster.AddNode({{"name", fmt::format("n-{}", i)},
                     {"labels", {{"zone", fmt::format("z{}", i % 3)}, {"kubernetes.io/hostname", std::to_string(i)}}}});
  const framework::Profile profile = plugins::DefaultProfile("s");
  const auto bytes = [&](const json& spec, bool rooms = false) {
    framework::Ranking ranking(profile, cluster.Class(spec), cluster.snapshot(), framework::Ranking::MakeWorkspace(),
                               framework::Ranking::Keep::kGroups);
    if (rooms) CHECK(ranking.Rooms().size() == 5'000);
    CHECK(ranking.feasible_count() == (spec.contains("nodeSelector") ? 1'667 : 5'000));
    return ranking.memory();
  };
  CHECK(bytes({{"requests", {{"cpu", "1"}}}}) < 5'000);
  CHECK(bytes({{"requests", {{"cpu", "1"}}}, {"nodeSelector", {{"zone", "z1"}}}}) < 5'000);
  CHECK(bytes({{"requests", {{"cpu", "1"}}}}, true) > 15'000);
  // Where nodes are told apart one by one, or by what is on others, groups would be no fewer.
  json apart = {{"weight", 1},
                {"preference",
                 {{"matchExpressions",
                   json::array({{{"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", {"7"}}}})}}}};
  json spec;
  spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = json::array({apart});
  CHECK(bytes(spec) > 5'000);
}

TEST_CASE("texts that are not used are let go, and what is made afterwards says what it would have") {
  rc::prop("sweeping now and then", [](uint64_t seed) {
    const framework::Profile profile = plugins::DefaultProfile("s");
    Churn swept(seed), kept(seed);
    for (int step = 0; step < 60; ++step) {
      swept.Step(), kept.Step();
      if (step % 7 != 0) continue;
      for (int i = 0; i < 5; ++i) swept.cluster().snapshot().symbols().Intern(fmt::format("made-up-{}-{}", step, i));
      swept.cluster().state().SweepSymbols();
      RC_ASSERT(swept.cluster().snapshot().symbols().size() <= kept.cluster().snapshot().symbols().size());
    }
    const auto ranking = [&](Churn& churn) {
      const auto& state = churn.cluster().state();
      return framework::Ranking(profile, *state.pod(churn.cluster().AddPod(churn.Spec())).pod_class, state.snapshot());
    };
    framework::Ranking after = ranking(swept);
    CheckSame(after, ranking(kept), swept.cluster().snapshot());
  });
}

TEST_CASE("a ranking follows a speculation and its undoing") {
  rc::prop("placing the best again and again, then rewinding", [](uint64_t seed) {
    const framework::Profile profile = plugins::DefaultProfile("s");
    Churn churn(seed);
    const model::PodId pod = churn.cluster().AddPod(churn.Spec());
    const auto pod_class = churn.cluster().state().pod(pod).pod_class;
    framework::Ranking ranking(profile, *pod_class, churn.cluster().snapshot());
    {
      cluster::WhatIf what_if(churn.cluster().state());
      for (int i = 0; i < 20 && ranking.Best(); ++i) {
        what_if.Place({}, *pod_class, ranking.Best());
        ranking.Refresh();
        CheckSame(ranking, framework::Ranking(profile, *pod_class, churn.cluster().snapshot()),
                  churn.cluster().snapshot());
      }
    }
    ranking.Refresh();
    CheckSame(ranking, framework::Ranking(profile, *pod_class, churn.cluster().snapshot()), churn.cluster().snapshot());
  });
}

// Places the pod, evicts others, and does so within itself; the ranking is looked at where chance has it.
void SpeculateAtRandom(Churn& churn, cluster::WhatIf& what_if, model::PodId pod, const auto& check, int depth) {
  const cluster::ClusterState& state = churn.cluster().state();
  const cluster::WhatIf::Scope scope(what_if);
  for (int step = 0; step < 6; ++step) {
    const model::NodeId node(static_cast<uint32_t>(churn.random().Below(state.snapshot().slots())));
    if (!state.snapshot().present(node)) continue;
    const auto there = state.pods_on(node);
    if (depth < 2 && churn.random().OneIn(4)) {
      SpeculateAtRandom(churn, what_if, pod, check, depth + 1);
    } else if (const auto victim = std::ranges::find_if(there, [&](auto id) { return !state.pod(id).evicted; });
               victim != there.end() && churn.random().OneIn(2)) {
      what_if.Evict(*victim);
    } else {
      what_if.Place({}, *state.pod(pod).pod_class, node);
    }
    if (churn.random().OneIn(2)) check();
  }
}

TEST_CASE("a ranking follows evictions and placements that nest, and their undoing") {
  rc::prop("scopes within scopes", [](uint64_t seed) {
    const framework::Profile profile = plugins::DefaultProfile("s");
    Churn churn(seed);
    for (int step = 0; step < 40; ++step) churn.Step();
    const model::PodId pod = churn.cluster().AddPod(churn.Spec());
    const auto pod_class = churn.cluster().state().pod(pod).pod_class;
    const cluster::Snapshot& snapshot = churn.cluster().snapshot();
    framework::Ranking ranking(profile, *pod_class, snapshot);
    const auto check = [&] {
      ranking.Refresh();
      CheckSame(ranking, framework::Ranking(profile, *pod_class, snapshot), snapshot);
    };
    cluster::WhatIf what_if(churn.cluster().state());
    SpeculateAtRandom(churn, what_if, pod, check, 0);
    check();
    churn.cluster().state().Audit();
  });
}

// kube-scheduler's plugins, or those without what keeps pods off nodes that spread does not count.
framework::Profile AnyProfile(base::Random& random) {
  plugins::ProfileConfig config;
  config.scheduler_name = "s";
  if (random.OneIn(3)) config.plugins["filter"].disabled = {"NodeAffinity", "TaintToleration"};
  return *plugins::MakeProfile(config);
}

// More and more pods of one class; what was said before the first of them bounds what fits.
TEST_CASE("a node has the room that its ranking says, and all nodes together have no more than Most") {
  rc::prop("placing one class until nothing fits", [](uint64_t seed) {
    Churn churn(seed);
    const framework::Profile profile = AnyProfile(churn.random());
    const model::PodId pod = churn.cluster().AddPod(churn.Spec());
    const auto pod_class = churn.cluster().state().pod(pod).pod_class;
    const cluster::Snapshot& snapshot = churn.cluster().snapshot();
    framework::Ranking ranking(profile, *pod_class, snapshot);
    const std::vector<int32_t> rooms(ranking.Rooms().begin(), ranking.Rooms().end());
    const int64_t most = ranking.Most(rooms, {});
    const bool exact =
        ranking.reach() != framework::FilterState::Reach::kCluster && ranking.ExcludedBy(*pod_class).empty();
    cluster::WhatIf what_if(churn.cluster().state());
    std::vector<int32_t> placed(snapshot.slots());
    for (;;) {
      std::vector<model::NodeId> feasible;
      for (uint32_t n = 0; n < snapshot.slots(); ++n)
        if (ranking.Feasible(model::NodeId(n))) feasible.emplace_back(n);
      if (feasible.empty()) break;
      const model::NodeId node = feasible[churn.random().Below(feasible.size())];
      what_if.Place({}, *pod_class, node);
      ranking.Refresh();
      ++placed[node.index()];
      RC_ASSERT(placed[node.index()] <= rooms[node.index()]);
      RC_ASSERT(static_cast<int64_t>(what_if.placements().size()) <= most);
    }
    if (exact) RC_ASSERT(placed == rooms);
  });
}
