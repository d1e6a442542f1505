// SPDX-License-Identifier: Apache-2.0
// Speculations: whatever is placed, evicted and taken back, nested in any way, leaves the cluster as it was.
#include "cluster/what_if.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <algorithm>

#include "base/random.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::cluster {
namespace {

using model::NodeId;
using model::PodId;
using tests::json;

constexpr int kNodes = 4, kBound = 12, kWaiting = 4;

// Nodes with pods that take room, ports and claims there, one of them by a reservation; and pods that wait.
struct Town {
  explicit Town(uint64_t seed) {
    base::Random random(seed);
    for (int n = 0; n < kNodes; ++n) cluster.AddNode({{"name", fmt::format("n{}", n)}});
    for (int p = 0; p < kBound + kWaiting; ++p) {
      json pod = {{"requests", {{"cpu", fmt::format("{}", random.Below(3))}, {"example.com/unknown", "1"}}}};
      if (p < kBound) pod["node"] = fmt::format("n{}", random.Below(kNodes));
      if (random.OneIn(2))
        pod["containers"] = json::array(
            {{{"name", "c"}, {"ports", json::array({{{"containerPort", 1}, {"hostPort", 80 + random.Below(3)}}})}}});
      if (random.OneIn(2))
        pod["volumes"] = json::array(
            {{{"name", "v"}, {"persistentVolumeClaim", {{"claimName", fmt::format("c{}", random.Below(3))}}}}});
      pods.push_back(cluster.AddPod(pod));
    }
    cluster.state().Reserve(pods.back(), NodeId(0), {{{"default/open", "volume"}}});
  }

  const PodEntry& entry(PodId pod) { return cluster.state().pod(pod); }

  tests::TestCluster cluster;
  std::vector<PodId> pods;
};

// All that a reader of the snapshot may see of pods.
std::string Describe(const Snapshot& nodes) {
  std::string text;
  for (uint32_t slot = 0; slot < nodes.slots(); ++slot) {
    const NodeId n(slot);
    for (uint32_t r = 0; r < nodes.resources().size(); ++r)
      text += fmt::format(
          "{} ", nodes.requested(model::ResourceId(r)).empty() ? 0 : nodes.requested(model::ResourceId(r))[n.index()]);
    text += fmt::format("{} {} ports", nodes.nonzero_cpu()[n.index()], nodes.nonzero_memory()[n.index()]);
    for (const PortEntry& port : nodes.node(n).ports) text += fmt::format(" {}", port.port);
    std::vector<uint32_t> classes;
    for (const PodClass* pod_class : nodes.node(n).with_volumes) classes.push_back(pod_class->id.value);
    std::ranges::sort(classes);
    text += fmt::format(" volumes {}\n", fmt::join(classes, " "));
  }
  std::vector<std::string> lines;
  for (const auto& [id, occupants] : nodes.occupants())
    for (const auto& [node, count] : occupants.nodes)
      lines.push_back(fmt::format("{} of {} on {}\n", count, id.value, node.value));
  for (const char* claim : {"default/c0", "default/c1", "default/c2", "default/open"}) {
    const Storage::Taken* taken = nodes.storage().TakenFor(claim);
    lines.push_back(fmt::format(
        "{}: {} users, {}\n", claim, nodes.storage().Users(claim),
        taken ? fmt::format("{} on {} by {}", taken->volume, taken->node.value, taken->pods) : "not taken"));
  }
  std::ranges::sort(lines);
  return text + fmt::format("{}", fmt::join(lines, ""));
}

// Places, evicts, has leave, marks and rewinds at random in a scope, and in scopes within it.
void Speculate(Town& town, WhatIf& what_if, base::Random& random, int depth) {
  const Snapshot& nodes = what_if.snapshot();
  const std::string before = Describe(nodes);
  {
    const WhatIf::Scope scope(what_if);
    std::vector<std::pair<WhatIf::Mark, std::string>> marks;
    for (int step = 0; step < 12; ++step) {
      const PodId pod = town.pods[random.Below(town.pods.size())];
      switch (random.Below(depth < 3 ? 7 : 6)) {
        case 0:
        case 1: what_if.Place({}, *town.entry(pod).pod_class, NodeId(random.Below(kNodes))); break;
        case 2:
          if (town.entry(pod).node && !town.entry(pod).evicted) what_if.Evict(pod);
          break;
        case 3: marks.emplace_back(what_if.Here(), Describe(nodes)); break;
        case 4:
          if (marks.empty()) break;
          what_if.Rewind(marks.back().first);
          RC_ASSERT(what_if.Here() == marks.back().first);
          RC_ASSERT(Describe(nodes) == marks.back().second);
          marks.pop_back();
          break;
        case 5:
          if (const size_t placed = what_if.placements().size(); placed > 0)
            if (const size_t one = random.Below(placed); !what_if.placements()[one].departed) what_if.Depart(one);
          break;
        default: Speculate(town, what_if, random, depth + 1);
      }
    }
  }
  RC_ASSERT(Describe(nodes) == before);
}

}  // namespace

TEST_CASE("nests of speculations leave a cluster like one on which nothing was speculated") {
  rc::prop("placing, evicting, marking and rewinding at random", [](uint64_t seed) {
    Town town(seed), fresh(seed);
    base::Random random(seed + 1);
    {
      WhatIf what_if(town.cluster.state());
      Speculate(town, what_if, random, 0);
      WhatIf within(town.cluster.state());
      Speculate(town, within, random, 2);
      RC_ASSERT(town.cluster.state().speculated() == 0U);
    }
    town.cluster.state().Audit();
    RC_ASSERT(Describe(town.cluster.snapshot()) == Describe(fresh.cluster.snapshot()));
  });
}

TEST_CASE("what was placed in a scope is taken from it, and what was placed before stays") {
  Town town(1);
  ClusterState& state = town.cluster.state();
  const PodId first = town.pods[kBound], second = town.pods[kBound + 1];
  WhatIf what_if(state);
  what_if.Place({}, *town.entry(first).pod_class, NodeId(1));
  {
    WhatIf::Scope scope(what_if);
    what_if.Evict(town.pods[0]);
    CHECK(town.entry(town.pods[0]).evicted);
    what_if.Place(model::MemberId(2), *town.entry(second).pod_class, NodeId(2), {{{"default/c9", "v9"}}});
    CHECK(scope.placements().size() == 1);
    CHECK(what_if.evicted() == std::vector{town.pods[0]});
    const std::vector<Placement> taken = scope.Take();
    REQUIRE(taken.size() == 1);
    CHECK(taken.front().member == model::MemberId(2));
    CHECK(taken.front().takings == Takings{{{"default/c9", "v9"}}});
    CHECK(state.snapshot().storage().TakenFor("default/c9") == nullptr);
    CHECK_FALSE(town.entry(town.pods[0]).evicted);
  }
  CHECK(what_if.placements().size() == 1);
  CHECK(state.speculated() == 1);
}

TEST_CASE("a node knows the pods that weigh on it, and one that comes finds those that were bound to its name") {
  tests::TestCluster cluster;
  ClusterState& state = cluster.state();
  const auto on = [&](const char* node) {
    const auto pods = state.pods_on(cluster.Node(node));
    std::vector<PodId> sorted(pods.begin(), pods.end());
    std::ranges::sort(sorted);
    return sorted;
  };
  const PodId early = cluster.AddPod({{"node", "n"}, {"name", "early"}});
  CHECK_FALSE(state.pod(early).node);
  cluster.AddNode({{"name", "n"}});
  cluster.AddNode({{"name", "m"}});
  const PodId late = cluster.AddPod({{"node", "n"}, {"name", "late"}}), waits = cluster.AddPod({{"name", "waits"}});
  state.Reserve(waits, cluster.Node("n"));
  CHECK(on("n") == std::vector{early, late, waits});
  CHECK(on("m").empty());
  state.DropPod(late);
  CHECK(on("n") == std::vector{early, waits});
  CHECK(state.DropNode("n"));
  CHECK(state.reserved() == 0);
  state.Audit();
  cluster.AddNode({{"name", "n"}});
  CHECK(on("n") == std::vector{early});
  CHECK(state.pod(early).node == cluster.Node("n"));
  state.Audit();
}

TEST_CASE("a reader of the logs learns nothing of a speculation that was unseen") {
  Town town(1);
  ClusterState& state = town.cluster.state();
  const Snapshot& nodes = state.snapshot();
  const cluster::PodLog::Following following = nodes.pod_log().Follow();
  const uint64_t end = nodes.log_end(), pods_end = nodes.pod_log().end(PodLog::Of::kAll);
  const std::string before = Describe(nodes);
  WhatIf what_if(state);
  {
    const WhatIf::Unlogged unlogged(what_if);
    for (const PodId pod : town.pods)
      if (town.entry(pod).node) what_if.Evict(pod);
    what_if.Place({}, *town.entry(town.pods[0]).pod_class, NodeId(1));
    CHECK(Describe(nodes) != before);
  }
  CHECK(Describe(nodes) == before);
  CHECK(nodes.log_end() == end);
  CHECK(nodes.pod_log().end(PodLog::Of::kAll) == pods_end);
  std::vector<NodeId> changed;
  {
    const WhatIf::Unlogged unlogged(what_if);
    what_if.Place({}, *town.entry(town.pods[0]).pod_class, NodeId(1));
    REQUIRE(nodes.ReadLog(end, &changed));
    CHECK(nodes.log_end() > end);
  }
  CHECK(nodes.log_end() > end);  // a reader that has seen it come is told that it went
}

TEST_CASE("a node that is kept for a pod counts whatever the pod says, until it says the same or is bound") {
  tests::TestCluster cluster;
  ClusterState& state = cluster.state();
  cluster.AddNode({{"name", "n"}});
  cluster.AddNode({{"name", "m"}});
  const PodId id = cluster.AddPod({{"name", "p"}});
  const auto says = [&](const char* nominated, const char* node) {
    auto pod = std::make_shared<model::Pod>(*state.pod(id).pod);
    pod->nominated_node = nominated;
    pod->node_name = node;
    state.ApplyPod(std::move(pod));
    state.Audit();
  };
  state.KeepNode(id, "n");
  CHECK(state.nominations().NodeOf(id) == "n");
  says("m", "");
  CHECK(state.nominations().NodeOf(id) == "n");
  CHECK(state.nominations().For("m").empty());
  CHECK(state.nominations().For("n").size() == 1);
  says("n", "");
  CHECK(state.kept_node(id) == nullptr);
  says("m", "");
  CHECK(state.nominations().NodeOf(id) == "m");
  state.TakeImproved();
  state.KeepNode(id, "");
  CHECK(state.nominations().empty());
  CHECK(state.AnyImproved());  // its room is for others
  says("m", "n");
  CHECK(state.nominations().empty());
  CHECK(state.kept_node(id) == nullptr);
}

}  // namespace tutti::cluster
