// SPDX-License-Identifier: Apache-2.0
// What it costs to find out which pods a lone pod would have to evict. The search alone: its class's ranking catches
// up, and victims are chosen. What becomes of them is not measured.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "benchmarks/engine/cases.h"
#include "benchmarks/engine/world.h"
#include "core/place/lone_preemption.h"
#include "core/place/rankings.h"
#include "plugins/registry.h"

namespace tutti::bench {
namespace {

constexpr int64_t kGi = int64_t{1} << 30;
constexpr int32_t kHigh = 1000;

// Nodes of 32 cpu under the stock profile.
struct Full {
  Full(size_t nodes, size_t each, int64_t cpu_milli) {
    for (size_t i = 0; i < nodes; ++i) state.ApplyNode(std::make_shared<const model::Node>(MakeNode(i)));
    const auto spec = std::make_shared<const model::PodSpec>(MakeSpec(cpu_milli, kGi));
    for (size_t i = 0; i < nodes * each; ++i) Bind(fmt::format("low-{}", i), spec, i % nodes, static_cast<int64_t>(i));
  }

  void Bind(const std::string& name, const std::shared_ptr<const model::PodSpec>& spec, size_t node, int64_t started) {
    auto pod = MakePod(name, spec, 0);
    pod->node_name = fmt::format("node-{:06}", node);
    pod->phase = model::PodPhase::kRunning;
    pod->started_ms = 1 + started;
    state.ApplyPod(std::move(pod));
  }
  model::PodId Wait(const std::string& name, const std::shared_ptr<const model::PodSpec>& spec) {
    return state.ApplyPod(MakePod(name, spec, 0)).id;
  }
  // The CPU seconds that the search for one pod takes.
  double Search(model::PodId pod, core::PreemptionResult* result) {
    const double started = ThreadSeconds();
    framework::Ranking& ranking = rankings.For(state.pod(pod).pod_class);
    *result = preemption.Search({.pod = pod, .args = {}, .from = next_slot, .shuns = nullptr}, ranking);
    return ThreadSeconds() - started;
  }

  std::vector<framework::Profile> profiles{plugins::DefaultProfile("default-scheduler")};
  cluster::ClusterState state;
  cluster::WhatIf what_if{state};
  core::VictimTable victims{state};
  core::LonePreemption preemption{state, what_if, victims};
  core::Rankings rankings{profiles, state.snapshot(), size_t{512} << 20};
  uint32_t next_slot = 0;
};

std::shared_ptr<const model::PodSpec> Preemptor(size_t kind) {
  model::PodSpec spec = MakeSpec(3000 + 2 * static_cast<int64_t>(kind % 100), kGi);
  spec.priority = kHigh;
  spec.images = {fmt::format("app:{}", kind)};  // so that no two are one class
  return std::make_shared<const model::PodSpec>(std::move(spec));
}

}  // namespace

double SecondsPerPreemption(size_t classes, size_t pods) {
  Full full(5000, 10, 3200);
  std::vector<std::shared_ptr<const model::PodSpec>> specs;
  for (size_t i = 0; i < classes; ++i) specs.push_back(Preemptor(i));
  for (size_t i = 0; i < classes; ++i)  // a class is ranked for the first time when it is first refused
    full.rankings.For(full.state.pod(full.Wait(fmt::format("first-{}", i), specs[i])).pod_class);
  double seconds = 0;
  for (size_t i = 0; i < pods; ++i) {
    const model::PodId pod = full.Wait(fmt::format("high-{}", i), specs[i % classes]);
    core::PreemptionResult result;
    seconds += full.Search(pod, &result);
    TUTTI_CHECK(result.outcome == core::PreemptionResult::Outcome::kFound, "there are pods of lower priority");
    full.next_slot = result.chosen.node.value + 1;
    for (const model::PodId victim : result.chosen.victims) full.state.DropPod(victim);
    auto bound = std::make_shared<model::Pod>(*full.state.pod(pod).pod);
    bound->node_name = full.state.snapshot().node(result.chosen.node).name;
    full.state.ApplyPod(std::move(bound));
  }
  return seconds / static_cast<double>(pods);
}

double SecondsToFindNoVictims() {
  constexpr size_t kNodes = 400;
  Full full(kNodes, 10, 1600);
  model::PodSpec higher = MakeSpec(16'000, kGi);
  higher.priority = kHigh;
  const auto spec = std::make_shared<const model::PodSpec>(std::move(higher));
  for (size_t i = 0; i < kNodes; ++i) full.Bind(fmt::format("high-{}", i), spec, i, 0);
  model::PodSpec asks = MakeSpec(20'000, kGi);
  asks.priority = kHigh;
  const model::PodId pod = full.Wait("asks", std::make_shared<const model::PodSpec>(std::move(asks)));
  full.rankings.For(full.state.pod(pod).pod_class);
  core::PreemptionResult result;
  const double seconds = full.Search(pod, &result);
  TUTTI_CHECK(result.outcome == core::PreemptionResult::Outcome::kNoCandidate, "no node has so much");
  return seconds;
}

}  // namespace tutti::bench
