// SPDX-License-Identifier: Apache-2.0
// packing: measures how large a gang can still start after small pods have come and gone for a while, for several
// scores.
//
// Nodes have 8 GPUs. Pods of 1, 2, 4 and 8 GPUs arrive and leave at random, and a given share of all GPUs is kept in
// use. At intervals it counts the wholly free nodes: so many 8-GPU workers of a gang could start at once.
#include <fmt/format.h>

#include <array>
#include <functional>

#include "base/json.h"
#include "base/random.h"
#include "framework/ranking.h"
#include "plugins/registry.h"
#include "plugins/whole_nodes/whole_nodes.h"
#include "tests/support/test_cluster.h"

namespace tutti {
namespace {

using json = base::Json;

constexpr int kNodes = 100, kGpus = 8, kSeeds = 5, kArrivals = 4'000;
constexpr std::array<std::pair<int, int>, 4> kSizes = {{{1, 50}, {2, 20}, {4, 18}, {8, 12}}};  // GPUs, of 100 pods

// Scores by fragmentation gradient descent, as in the literature. The best node is the one on which the pod adds least
// to the free GPUs that are too few for a random pod of the mix.
class FragmentationGradient final : public framework::Score {
 public:
  std::string_view name() const override { return "FragmentationGradient"; }
  std::unique_ptr<framework::ScoreState> PrepareScore(const cluster::PodClass& pod_class,
                                                      const cluster::Snapshot& snapshot) const override {
    return std::make_unique<Prepared>(pod_class, snapshot);
  }

 private:
  class Prepared final : public framework::ScoreState {
   public:
    Prepared(const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot)
        : snapshot_(snapshot), column_(snapshot.resources().Column("nvidia.com/gpu")) {
      for (const auto& [column, amount] : pod_class.requests)
        if (column == column_) gpus_ = amount;
    }
    int64_t Score(model::NodeId n) const override {
      const int64_t free = snapshot_.Free(n, column_);
      return 50 - (Fragments(free - gpus_) - Fragments(free)) * 50 / (100 * kGpus);
    }

   private:
    static int64_t Fragments(int64_t free) {
      int64_t sum = 0;
      for (const auto& [size, share] : kSizes) sum += free < size ? free * share : 0;
      return sum;
    }
    const cluster::Snapshot& snapshot_;
    const model::ResourceId column_;
    int64_t gpus_ = 0;
  };
};

framework::Profile WithStrategy(const std::string& strategy) {
  plugins::ProfileConfig config;
  config.scheduler_name = "s";
  config.plugin_config.emplace_back(
      "NodeResourcesFit",
      std::make_shared<const json>(
          json{{"scoringStrategy",
                {{"type", strategy},
                 {"resources", {{{"name", "nvidia.com/gpu"}, {"weight", 5}}, {{"name", "cpu"}, {"weight", 1}}}}}}}));
  auto profile = plugins::MakeProfile(config);
  if (!profile) throw std::runtime_error(profile.error().message);
  return *std::move(profile);
}

framework::Profile WithGradient() {
  framework::Profile profile = plugins::DefaultProfile("s");
  profile.scores.push_back({std::make_shared<FragmentationGradient>(), plugins::WholeNodes::kWeight});
  return profile;
}

struct Outcome {
  double whole = 0;       // nodes, on average over the samples
  double least = kNodes;  // the fewest at any sample
  int refused = 0;        // pods that found no node on arrival
};

Outcome Run(const framework::Profile& profile, double load, uint64_t seed) {
  base::Random random(seed);
  tests::TestCluster cluster;
  for (int n = 0; n < kNodes; ++n)
    cluster.AddNode({{"name", fmt::format("n{}", n)},
                     {"allocatable", {{"cpu", "96"}, {"memory", "1Ti"}, {"nvidia.com/gpu", std::to_string(kGpus)}}}});
  std::vector<std::pair<const cluster::PodClass*, std::unique_ptr<framework::Ranking>>> classes;
  std::vector<std::shared_ptr<const cluster::PodClass>> kept;
  for (const auto& [size, share] : kSizes) {
    const model::PodId pod =
        cluster.AddPod({{"requests", {{"cpu", std::to_string(size)}, {"nvidia.com/gpu", std::to_string(size)}}}});
    kept.push_back(cluster.state().pod(pod).pod_class);
    classes.emplace_back(kept.back().get(),
                         std::make_unique<framework::Ranking>(profile, *kept.back(), cluster.snapshot()));
  }
  struct Running {
    size_t size;
    model::NodeId node;
  };
  std::vector<Running> running;
  int64_t used = 0;
  Outcome outcome;
  int samples = 0;
  for (int arrival = 0; arrival < kArrivals; ++arrival) {
    // Pods that are due leave first; which ones is random.
    size_t size = 0;
    for (uint64_t draw = random.Below(100); draw >= static_cast<uint64_t>(kSizes[size].second); ++size)
      draw -= static_cast<uint64_t>(kSizes[size].second);
    while (!running.empty() && static_cast<double>(used + kSizes[size].first) > load * kNodes * kGpus) {
      const size_t at = random.Below(running.size());
      cluster.snapshot().Remove(*kept[running[at].size], running[at].node);
      used -= kSizes[running[at].size].first;
      running[at] = running.back();
      running.pop_back();
    }
    classes[size].second->Refresh();
    const model::NodeId node = classes[size].second->Best();
    if (!node) {
      ++outcome.refused;
      continue;
    }
    cluster.snapshot().Place(*kept[size], node);
    used += kSizes[size].first;
    running.push_back({size, node});
    if (arrival < kArrivals / 4 || arrival % 20 != 0) continue;
    int whole = 0;
    const model::ResourceId gpus = cluster.snapshot().resources().Column("nvidia.com/gpu");
    for (uint32_t n = 0; n < cluster.snapshot().slots(); ++n) whole += cluster.snapshot().requested(gpus)[n] == 0;
    outcome.whole += whole;
    outcome.least = std::min<double>(outcome.least, whole);
    ++samples;
  }
  outcome.whole /= samples;
  for (const Running& pod : running) cluster.snapshot().Remove(*kept[pod.size], pod.node);
  return outcome;
}

void Main() {
  const std::vector<std::pair<const char*, std::function<framework::Profile()>>> scores = {
      {"kube-scheduler's default", [] { return plugins::DefaultProfile("s"); }},
      {"LeastAllocated, by GPU", [] { return WithStrategy("LeastAllocated"); }},
      {"MostAllocated, by GPU", [] { return WithStrategy("MostAllocated"); }},
      {"fragmentation gradient", [] { return WithGradient(); }},
      {"keepNodesWhole", [] { return plugins::PackingProfile("s"); }},
  };
  fmt::print(
      "{} nodes of {} GPUs, {} pods, {} seeds: the gang of 8-GPU workers that would start (mean, least), and pods "
      "refused\n",
      kNodes, kGpus, kArrivals, kSeeds);
  for (const double load : {0.4, 0.6, 0.8}) {
    fmt::print("\n{:.0f} % of all GPUs taken; {:.0f} nodes' worth is free\n", 100 * load, kNodes * (1 - load));
    for (const auto& [name, make] : scores) {
      const framework::Profile profile = make();
      Outcome sum{0, 0, 0};
      for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const Outcome one = Run(profile, load, seed);
        sum.whole += one.whole / kSeeds;
        sum.least += one.least / kSeeds;
        sum.refused += one.refused;
      }
      fmt::print("  {:26} {:6.1f} {:6.1f} {:6}\n", name, sum.whole, sum.least, sum.refused);
    }
  }
}

}  // namespace
}  // namespace tutti

int main() { tutti::Main(); }
