// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources/balanced_allocation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include "base/json.h"
#include "plugins/common/args.h"
#include "plugins/node_resources/slot_score.h"

namespace tutti::plugins {
namespace {

using framework::kMaxNodeScore;

// Computes 100·(1 − standard deviation of the fractions in use), cut. The order of operations is kube-scheduler's, so
// that results are equal in every bit.
class Evenness {
 public:
  void Add(int64_t used, int64_t capacity) {
    const double fraction = std::min(1.0, static_cast<double>(used) / static_cast<double>(capacity));
    total_ += fraction;
    fractions_[count_++] = fraction;
  }
  int64_t Score() const {
    double deviation = 0;
    if (count_ == 2) {
      deviation = std::abs((fractions_[0] - fractions_[1]) / 2);
    } else if (count_ > 2) {
      const double mean = total_ / static_cast<double>(count_);
      double sum = 0;
      for (size_t i = 0; i < count_; ++i) sum += (fractions_[i] - mean) * (fractions_[i] - mean);
      deviation = std::sqrt(sum / static_cast<double>(count_));
    }
    return static_cast<int64_t>((1 - deviation) * static_cast<double>(kMaxNodeScore));
  }

  static constexpr size_t kMostResources = 32;

 private:
  std::array<double, kMostResources> fractions_;  // args with more are refused
  size_t count_ = 0;
  double total_ = 0;
};

struct Balance {
  static int64_t Of(std::span<const ScoredResources::View> views, size_t n) {
    Evenness with, without;
    for (const ScoredResources::View& view : views) {
      const int64_t capacity = view.allocatable[n];
      if (capacity == 0) continue;
      with.Add(view.used[n] + view.pod, capacity);
      without.Add(view.used[n], capacity);
    }
    return kMaxNodeScore / 2 + (kMaxNodeScore / 2 + with.Score() - without.Score()) / 2;
  }
};
using BalancedState = SlotScoreState<Balance>;

}  // namespace

base::Result<std::shared_ptr<NodeResourcesBalancedAllocation>> NodeResourcesBalancedAllocation::Make(
    const base::Json& args) {
  const std::string path = "NodeResourcesBalancedAllocationArgs";
  if (const auto checked = CheckFields(args, path, {"resources"}); !checked)
    return tl::make_unexpected(checked.error());
  auto resources = ReadResources(args, path);
  if (!resources) return tl::make_unexpected(resources.error());
  std::set<std::string> names;
  for (const auto& [name, weight] : *resources) {
    if (weight != 1) return base::Invalid(fmt::format("{}.resources: weight of {}: must be 1", path, name));
    if (!names.insert(name).second)
      return base::Invalid(fmt::format("{}.resources: duplicate value: \"{}\"", path, name));
  }
  if (resources->size() > Evenness::kMostResources)
    return base::Invalid(fmt::format("{}.resources: at most {}", path, Evenness::kMostResources));
  auto plugin = std::make_shared<NodeResourcesBalancedAllocation>();
  plugin->resources_ = *std::move(resources);
  return plugin;
}

std::unique_ptr<framework::ScoreState> NodeResourcesBalancedAllocation::PrepareScore(
    const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot) const {
  ScoredResources resources(resources_, ScoredResources::Requests::kReal, pod_class, snapshot);
  if (resources.all_zero()) return nullptr;
  return std::make_unique<BalancedState>(std::move(resources));
}

}  // namespace tutti::plugins
