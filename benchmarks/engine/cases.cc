// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/engine/cases.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "base/random.h"
#include "benchmarks/engine/world.h"

namespace tutti::bench {
namespace {

constexpr int64_t kMi = int64_t{1} << 20;
constexpr size_t kArrivals = 1000;  // pods that come between two cycles
constexpr const char* kHost = "kubernetes.io/hostname";
constexpr const char* kZone = "topology.kubernetes.io/zone";

using SpecPtr = std::shared_ptr<const model::PodSpec>;

SpecPtr Share(model::PodSpec spec) { return std::make_shared<const model::PodSpec>(std::move(spec)); }

model::LabelSelector App(const std::string& app) { return {{{"app", app}}, {}}; }

model::TopologySpread SpreadOver(const char* key, bool hard, const std::string& app) {
  model::TopologySpread spread;
  spread.topology_key = key;
  spread.hard = hard;
  spread.selector = App(app);
  return spread;
}

model::PodAffinityTerm Apart(const std::string& app) {
  model::PodAffinityTerm term;
  term.selector = App(app);
  term.topology_key = kHost;
  return term;
}

struct Kind {
  SpecPtr spec;
  std::string app;
};

std::vector<Kind> Identical() { return {{Share(MakeSpec(100, 200 * kMi)), "bench"}}; }

std::vector<Kind> Distinct() {
  std::vector<Kind> kinds;
  for (int i = 0; i < 1000; ++i) {
    model::PodSpec spec = MakeSpec(50 + 10 * (i % 40), (64 + 16 * (i % 25)) * kMi);
    if (i % 4 == 1) spec.node_selector = {{kZone, fmt::format("z{}", i % 10)}};
    if (i % 4 == 2) spec.tolerations = {{fmt::format("dedicated-{}", i), "Exists", "", "NoSchedule"}};
    if (i % 4 == 3) {
      model::NodeSelectorTerm term;
      term.match_expressions = {
          {"pool", model::Operator::kIn, {fmt::format("p{}", i % 50), fmt::format("p{}", (i + 1) % 50)}}};
      spec.preferred_node_affinity = {{1 + i % 100, term}};
    }
    spec.priority = 0;
    spec.images = {fmt::format("app:{}", i)};  // so that no two are one class
    kinds.push_back({Share(std::move(spec)), "bench"});
  }
  return kinds;
}

// Returns three applications of each kind, so that pods meet both their own kind and others.
std::vector<Kind> Spreading() {
  std::vector<Kind> kinds;
  for (int i = 0; i < 12; ++i) {
    const std::string app = fmt::format("app-{}", i);
    model::PodSpec spec = MakeSpec(100, 200 * kMi);
    if (i % 4 == 0) spec.spread = {SpreadOver(kZone, true, app), SpreadOver(kHost, true, app)};
    if (i % 4 == 1) spec.spread = {SpreadOver(kZone, false, app), SpreadOver(kHost, false, app)};
    if (i % 4 == 2) spec.pod_anti_affinity.preferred = {{100, Apart(app)}};
    if (i % 4 == 3) spec.pod_anti_affinity.required = {Apart(app)};
    kinds.push_back({Share(std::move(spec)), app});
  }
  return kinds;
}

std::vector<Kind> KindsOf(Mix mix) {
  switch (mix) {
    case Mix::kIdentical: return Identical();
    case Mix::kDistinct: return Distinct();
    case Mix::kSpread: return Spreading();
  }
  return {};
}

// Posts running pods, `each` on every node.
void PostBound(World& world, size_t nodes, size_t each) {
  std::vector<SpecPtr> specs;
  for (int i = 0; i < 10; ++i) specs.push_back(Share(MakeSpec(100 * (1 + i % 5), (100 + 50 * i) * kMi)));
  base::Random random(11);
  for (size_t i = 0; i < nodes * each; ++i) {
    auto pod = MakePod(fmt::format("old-{:07}", i), specs[random.Below(specs.size())], 0);
    pod->node_name = fmt::format("node-{:06}", i % nodes);
    pod->phase = model::PodPhase::kRunning;
    world.Post(cluster::PodChanged{std::move(pod)});
    if (i % 10'000 == 9'999) world.Settle();
  }
  world.Settle();
}

void PostNodes(World& world, size_t nodes, int64_t gpus) {
  for (size_t i = 0; i < nodes; ++i) world.Post(MakeNode(i, gpus));
  world.Settle();
}

// Posts a PodGroup of scheduling.k8s.io.
void PostGroup(World& world, const std::string& name, size_t min, const char* rack = nullptr) {
  base::Json body = {{"apiVersion", "scheduling.k8s.io/v1alpha2"},
                     {"kind", "PodGroup"},
                     {"metadata", {{"name", name}, {"namespace", "default"}, {"uid", "uid-" + name}}},
                     {"spec", {{"schedulingPolicy", {{"gang", {{"minCount", min}}}}}}}};
  if (rack) body["spec"]["schedulingConstraints"]["topology"] = {{{"key", rack}}};
  model::Object object;
  object.group = "scheduling.k8s.io", object.version = "v1alpha2", object.resource = "podgroups";
  object.kind = "PodGroup";
  object.meta.ns = "default";
  object.meta.name = name;
  object.meta.uid = "uid-" + name;
  object.body = std::make_shared<const base::Json>(std::move(body));
  world.Post(cluster::ObjectChanged{std::make_shared<const model::Object>(std::move(object))});
}

void PostMember(World& world, const std::string& gang, size_t ordinal, const SpecPtr& spec) {
  auto pod = MakePod(fmt::format("{}-{}", gang, ordinal), spec, 1'000'000);
  pod->scheduling_group = gang;
  world.Arrive(std::move(pod));
}

// Makes a pod that holds GPUs and is in no gang.
std::shared_ptr<model::Pod> Holder(size_t i, size_t node, const SpecPtr& spec) {
  auto pod = MakePod(fmt::format("holder-{}", i), spec, 0);
  pod->node_name = fmt::format("node-{:06}", node);
  pod->phase = model::PodPhase::kRunning;
  return pod;
}

// Makes the spec of another scheduler's pod.
SpecPtr Foreign(int64_t cpu_milli, int64_t gpus) {
  model::PodSpec spec = MakeSpec(cpu_milli, kMi, gpus);
  spec.scheduler_name = "another";
  return Share(std::move(spec));
}

void FillGpus(World& world, size_t nodes, const SpecPtr& one_gpu) {
  for (size_t i = 0; i < 8 * nodes; ++i) world.Post(cluster::PodChanged{Holder(i, i / 8, one_gpu)});
  world.Settle();
}

}  // namespace

PerPod SecondsPerPod(Mix mix, size_t nodes, size_t before, size_t pods) {
  World world;
  PostNodes(world, nodes, 0);
  PostBound(world, nodes, before);
  const std::vector<Kind> kinds = KindsOf(mix);
  base::Random random(5);
  // Each class comes once before the measurement, which is not about the pass over all nodes for a new class.
  PerPod per_pod;
  size_t made = 0;
  const auto arrive = [&](const Kind& kind) {
    ++made;
    world.Arrive(
        MakePod(fmt::format("pod-{:07}", made), kind.spec, 1'000'000 + static_cast<base::Millis>(made) / 30, kind.app));
  };
  for (const Kind& kind : kinds) arrive(kind);
  world.Settle();
  const uint64_t bound_before = world.bound;
  for (size_t i = 0; i < pods; ++i) {
    arrive(kinds[random.Below(kinds.size())]);
    if (i % kArrivals != kArrivals - 1 && i + 1 != pods) continue;
    world.clock.Advance(33);
    const World::Spent spent = world.Follow();
    per_pod.decided += spent.deciding / static_cast<double>(pods);
    per_pod.followed += spent.following / static_cast<double>(pods);
  }
  TUTTI_CHECK(world.bound - bound_before == pods, "every pod of the case finds a node");
  return per_pod;
}

double SecondsToStartGang(size_t members, size_t nodes, const char* rack) {
  World world;
  PostNodes(world, nodes, 8);
  const SpecPtr spec = Share(MakeSpec(1000, 1024 * kMi, 1));
  PostGroup(world, "gang", members, rack);
  for (size_t i = 0; i + 1 < members; ++i) PostMember(world, "gang", i, spec);
  world.Settle();
  PostMember(world, "gang", members - 1, spec);
  const double seconds = world.Settle();
  if (world.bound != members) return 1e9;
  return seconds;
}

Proof ProveThatGpusDoNotFit() {
  World world;
  PostNodes(world, 500, 8);
  FillGpus(world, 500, Foreign(100, 1));
  const SpecPtr spec = Share(MakeSpec(1000, 1024 * kMi, 1));
  PostGroup(world, "gang", 80);
  for (size_t i = 0; i < 79; ++i) PostMember(world, "gang", i, spec);
  world.Settle();
  PostMember(world, "gang", 79, spec);
  Proof proof;
  proof.first_seconds = world.RunOnce();
  world.Settle();
  const uint64_t attempts = world.attempts;
  const SpecPtr small = Foreign(1, 0);
  for (size_t i = 0; i < 1000; ++i) {
    if (i % 2 == 0)
      world.Post(MakeNode(i % 500, 8));
    else
      world.Post(cluster::PodChanged{Holder(10'000 + i, i % 500, small)});
    world.RunOnce();
  }
  TUTTI_CHECK(world.bound == 0, "nothing fits");
  proof.later_attempts = static_cast<double>(world.attempts - attempts);
  return proof;
}

double SecondsForOneGpuJobs(size_t jobs, size_t nodes) {
  World world;
  PostNodes(world, nodes, 8);
  const SpecPtr spec = Share(MakeSpec(1000, 1024 * kMi, 1));
  for (size_t i = 0; i < jobs; ++i) world.Arrive(MakePod(fmt::format("job-{}", i), spec, 1'000'000));
  const double seconds = world.Settle();
  TUTTI_CHECK(world.bound == jobs, "every job finds a node");
  return seconds;
}

Waiting WaitingGangs(size_t gangs, size_t classes, size_t seconds) {
  constexpr size_t kNodes = 2000, kMembers = 4;
  World world;
  PostNodes(world, kNodes, 8);
  const SpecPtr one_gpu = Foreign(100, 1), small = Foreign(10, 0);
  FillGpus(world, kNodes, one_gpu);
  std::vector<SpecPtr> specs;
  for (size_t c = 0; c < classes; ++c) {
    model::PodSpec spec = MakeSpec(100 + static_cast<int64_t>(c), 1024 * kMi, 1 + static_cast<int64_t>(c % 2));
    if (c % 2 == 0) spec.node_selector = {{"pool", fmt::format("p{}", c / 2 % 50)}};
    specs.push_back(Share(std::move(spec)));
  }
  for (size_t g = 0; g < gangs; ++g) {
    const std::string name = fmt::format("gang-{:05}", g);
    PostGroup(world, name, kMembers);
    for (size_t m = 0; m < kMembers; ++m) PostMember(world, name, m, specs[g % classes]);
    if (g % 1000 == 999) world.Settle();
  }
  world.clock.Advance(2000);
  world.Settle();

  Waiting result;
  base::Random random(3);
  size_t held = 8 * kNodes, came = 0;
  double spent = 0;
  const uint64_t bound_before = world.bound;
  std::vector<size_t> order(held);
  for (size_t i = 0; i < held; ++i) order[i] = i;
  for (size_t i = held; i-- > 1;) std::swap(order[i], order[random.Below(i + 1)]);
  for (size_t event = 0; event < 1000 * seconds; ++event) {
    const size_t node = random.Below(kNodes);
    model::Node labelled = MakeNode(node, 8);
    model::StringMap labels = labelled.meta.labels;
    switch (event % 8) {
      case 1:  // a running pod ends
        --held;
        world.Post(cluster::PodGone{"default", fmt::format("holder-{}", order[held]), {}});
        break;
      case 5:  // a pod starts
        world.Post(cluster::PodChanged{Holder(1'000'000 + came++, node, small)});
        break;
      case 3:
      case 7:  // a label that no class reads, or the one that half of the classes read
        if (event % 16 < 8)
          labels.insert(labels.begin(), {"a-note", std::to_string(event)});
        else
          labels[1].second = fmt::format("p{}", random.Below(50));
        labelled.meta.labels = std::move(labels);
        [[fallthrough]];
      default: world.Post(std::move(labelled));
    }
    world.clock.Advance(1);
    const uint64_t bound = world.bound;
    const double took = world.RunOnce();
    spent += took;
    if (world.bound != bound) result.slowest_start_seconds = std::max(result.slowest_start_seconds, took);
  }
  result.share_of_core = spent / static_cast<double>(seconds);
  result.started = world.bound - bound_before;
  return result;
}

Searches GangsWithoutVictims(Hopeless why, size_t gangs, size_t seconds) {
  constexpr size_t kNodes = 500, kGpus = 8, kEvents = 100;
  World world;
  PostNodes(world, kNodes, kGpus);
  const SpecPtr low = Foreign(100, 1);
  model::PodSpec above = *low;
  above.priority = 20;
  const SpecPtr high = why == Hopeless::kByAmounts ? Share(std::move(above)) : low;
  const auto holder = [&](size_t i, size_t slot) { return Holder(i, slot / kGpus, slot % kGpus == 0 ? high : low); };
  std::vector<size_t> holds(kNodes * kGpus);  // by slot, the holder there
  for (size_t slot = 0; slot < holds.size(); ++slot) {
    holds[slot] = slot;
    world.Post(cluster::PodChanged{holder(slot, slot)});
  }
  world.Settle();
  for (size_t g = 0; g < gangs; ++g) {
    const std::string name = fmt::format("gang-{:05}", g);
    model::PodSpec spec = MakeSpec(100 + static_cast<int64_t>(g), kMi, kGpus);
    spec.priority = 10;
    if (why == Hopeless::kByAffinity) spec.pod_affinity.required = {Apart("nowhere")};
    const SpecPtr shared = Share(std::move(spec));
    PostGroup(world, name, 2);
    for (size_t m = 0; m < 2; ++m) PostMember(world, name, m, shared);
  }
  world.Settle();
  base::Random random(5);
  const uint64_t before = world.searches;
  double spent = 0;
  size_t next = holds.size();
  for (size_t event = 0; event < kEvents * seconds; ++event) {
    const size_t slot = random.Below(holds.size());
    world.Post(cluster::PodGone{"default", fmt::format("holder-{}", holds[slot]), {}});
    world.clock.Advance(1000 / kEvents / 2);
    spent += world.RunOnce();
    holds[slot] = next++;
    world.Post(cluster::PodChanged{holder(holds[slot], slot)});
    world.clock.Advance(1000 / kEvents / 2);
    spent += world.RunOnce();
  }
  TUTTI_CHECK(world.bound == 0, "nothing fits");
  const auto over = static_cast<double>(seconds);
  return {spent / over, static_cast<double>(world.searches - before) / over};
}

size_t ResidentBytes(size_t nodes, size_t bound_pods) {
  World world;
  PostNodes(world, nodes, 0);
  PostBound(world, nodes, bound_pods / nodes);
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

}  // namespace tutti::bench
