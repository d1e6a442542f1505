// SPDX-License-Identifier: Apache-2.0
// What placing costs when members look at each other: spread over zones and hosts, anti-affinity by host.
#include <benchmark/benchmark.h>

#include "cluster/what_if.h"
#include "framework/ranking.h"
#include "plugins/registry.h"
#include "tests/support/test_cluster.h"

namespace {

using namespace tutti;
using nlohmann::json;

void Fill(tests::TestCluster& cluster, int64_t nodes) {
  for (int64_t i = 0; i < nodes; ++i)
    cluster.AddNode({{"name", fmt::format("node-{}", i)},
                     {"labels", {{"topology.kubernetes.io/zone", fmt::format("z{}", i % 3)},
                                 {"kubernetes.io/hostname", fmt::format("node-{}", i)}}},
                     {"allocatable", {{"cpu", "32"}, {"memory", "128Gi"}, {"pods", "110"}}}});
}

json Pod() { return {{"labels", {{"app", "a"}}}, {"requests", {{"cpu", "100m"}, {"memory", "200Mi"}}}}; }
json Selector() { return {{"matchLabels", {{"app", "a"}}}}; }

json SpreadOver(const char* key, const char* when) {
  return {{"maxSkew", 1}, {"topologyKey", key}, {"whenUnsatisfiable", when}, {"labelSelector", Selector()}};
}

// Places pod after pod on the best node; starts over when every node holds one.
void Place(benchmark::State& state, const json& spec) {
  tests::TestCluster cluster;
  Fill(cluster, state.range(0));
  const framework::Profile profile = plugins::DefaultProfile("s");
  const cluster::PodClass& pod_class = cluster.Class(spec);
  framework::Ranking ranking(profile, pod_class, cluster.snapshot());
  cluster::WhatIf what_if(cluster.state().planning());
  for (auto _ : state) {
    if (!ranking.Best()) {
      what_if.Rewind(0);
      ranking.Refresh();
    }
    what_if.Place(model::PodId(0), pod_class, ranking.Best());
    ranking.Refresh();
  }
}

void HostAntiAffinity(benchmark::State& state) {
  json spec = Pod();
  spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
      json::array({{{"topologyKey", "kubernetes.io/hostname"}, {"labelSelector", Selector()}}});
  Place(state, spec);
}
BENCHMARK(HostAntiAffinity)->Arg(5000)->Unit(benchmark::kMicrosecond);

void PreferredHostAntiAffinity(benchmark::State& state) {
  json spec = Pod();
  spec["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = json::array(
      {{{"weight", 100}, {"podAffinityTerm", {{"topologyKey", "kubernetes.io/hostname"}, {"labelSelector", Selector()}}}}});
  Place(state, spec);
}
BENCHMARK(PreferredHostAntiAffinity)->Arg(5000)->Unit(benchmark::kMicrosecond);

void ZoneSpread(benchmark::State& state) {
  json spec = Pod();
  spec["topologySpreadConstraints"] = json::array({SpreadOver("topology.kubernetes.io/zone", "DoNotSchedule")});
  Place(state, spec);
}
BENCHMARK(ZoneSpread)->Arg(5000)->Unit(benchmark::kMicrosecond);

void HostSpread(benchmark::State& state) {
  json spec = Pod();
  spec["topologySpreadConstraints"] = json::array({SpreadOver("kubernetes.io/hostname", "DoNotSchedule")});
  Place(state, spec);
}
BENCHMARK(HostSpread)->Arg(5000)->Unit(benchmark::kMicrosecond);

void SoftZoneAndHostSpread(benchmark::State& state) {
  json spec = Pod();
  spec["topologySpreadConstraints"] = json::array({SpreadOver("topology.kubernetes.io/zone", "ScheduleAnyway"),
                                                   SpreadOver("kubernetes.io/hostname", "ScheduleAnyway")});
  Place(state, spec);
}
BENCHMARK(SoftZoneAndHostSpread)->Arg(5000)->Unit(benchmark::kMicrosecond);

}  // namespace
