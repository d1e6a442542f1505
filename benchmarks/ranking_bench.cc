// SPDX-License-Identifier: Apache-2.0
// What a ranking costs: made for a class that was never seen, following one changed node, and placing pod after pod.
#include <benchmark/benchmark.h>

#include "base/random.h"
#include "cluster/what_if.h"
#include "framework/ranking.h"
#include "plugins/registry.h"
#include "tests/support/test_cluster.h"

namespace {

using namespace tutti;
using nlohmann::json;

// Zones, a GPU pool with a taint, images on half of the nodes; every node partly used.
void Fill(tests::TestCluster& cluster, int64_t nodes) {
  base::Random random(7);
  for (int64_t i = 0; i < nodes; ++i) {
    json node = {{"name", fmt::format("node-{}", i)},
                 {"labels", {{"zone", fmt::format("z{}", i % 3)}, {"kubernetes.io/hostname", fmt::format("node-{}", i)}}},
                 {"allocatable", {{"cpu", "32"}, {"memory", "128Gi"}, {"pods", "110"}}}};
    if (i % 10 == 0) {
      node["taints"] = json::array({{{"key", "nvidia.com/gpu"}, {"effect", "NoSchedule"}}});
      node["allocatable"]["nvidia.com/gpu"] = "8";
    }
    if (i % 2 == 0) node["images"] = json::array({{{"names", {"ray:2.9"}}, {"sizeBytes", 900'000'000}}});
    cluster.AddNode(node);
    cluster.AddPod({{"node", fmt::format("node-{}", i)},
                    {"requests", {{"cpu", std::to_string(random.Below(8))}, {"memory", fmt::format("{}Gi", random.Below(32))}}}});
  }
}

json Worker() {
  return {{"containers", json::array({{{"name", "c"}, {"image", "ray:2.9"},
                                       {"resources", {{"requests", {{"cpu", "100m"}, {"memory", "200Mi"}}}}}}})}};
}

void MakeRanking(benchmark::State& state) {
  tests::TestCluster cluster;
  Fill(cluster, state.range(0));
  const framework::Profile profile = plugins::DefaultProfile("s");
  const cluster::PodClass& worker = cluster.Class(Worker());
  for (auto _ : state) benchmark::DoNotOptimize(framework::Ranking(profile, worker, cluster.snapshot()).Best());
}
BENCHMARK(MakeRanking)->Arg(1000)->Arg(5000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

// One iteration: the best node is taken and the ranking catches up.
void PlaceBest(benchmark::State& state) {
  tests::TestCluster cluster;
  Fill(cluster, state.range(0));
  const framework::Profile profile = plugins::DefaultProfile("s");
  const cluster::PodClass& worker = cluster.Class(Worker());
  framework::Ranking ranking(profile, worker, cluster.snapshot());
  cluster::WhatIf what_if(cluster.state().planning());
  for (auto _ : state) {
    if (what_if.Here() == 10 * static_cast<size_t>(state.range(0))) {
      what_if.Rewind(0);
      ranking.Refresh();
    }
    what_if.Place(model::PodId(0), worker, ranking.Best());
    ranking.Refresh();
  }
}
BENCHMARK(PlaceBest)->Arg(1000)->Arg(5000)->Arg(100'000)->Unit(benchmark::kNanosecond);

}  // namespace
