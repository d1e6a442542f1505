// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "plugins/common/resource_names.h"
#include "plugins/node_resources/percent.h"
#include "plugins/node_resources/slot_score.h"

namespace tutti::plugins {
namespace {

using framework::RefusedBy;
using framework::Verdict;
using model::NodeId;

struct Request {
  model::ResourceId column;
  int64_t amount;
};

class FitFilterState final : public framework::FilterState {
 public:
  FitFilterState(std::vector<Request> requests, bool saturated, const cluster::Snapshot& snapshot)
      : snapshot_(snapshot), requests_(std::move(requests)), saturated_(saturated) {}

  Verdict Check(NodeId n) const override {
    if (saturated_) return Verdict::kNever;
    Verdict verdict = snapshot_.Free(n, cluster::kPodsColumn) < 1 ? Verdict::kNotNow : Verdict::kFits;
    for (const Request& request : requests_) {
      if (request.amount <= snapshot_.Free(n, request.column)) continue;
      if (request.amount > snapshot_.allocatable(request.column)[n.index()]) return Verdict::kNever;
      verdict = Verdict::kNotNow;
    }
    return verdict;
  }

  void Explain(NodeId n, std::vector<std::string>* reasons) const override {
    if (snapshot_.Free(n, cluster::kPodsColumn) < 1) reasons->push_back(LackOf(cluster::kPodsColumn));
    for (const Request& request : requests_)
      if (request.amount > snapshot_.Free(n, request.column)) reasons->push_back(LackOf(request.column));
    if (saturated_ && reasons->empty()) reasons->emplace_back("the pod asks for more than can be counted");
  }

  void ExplainAll(RefusedBy mine, std::span<const RefusedBy> refused_by,
                  std::map<std::string, size_t>* nodes) const override {
    if (saturated_) return FilterState::ExplainAll(mine, refused_by, nodes);
    const auto count = [&](model::ResourceId column, int64_t amount) {
      const int64_t* allocatable = snapshot_.allocatable(column).data();
      const int64_t* requested = snapshot_.requested(column).data();
      size_t lacking = 0;
      for (size_t n = 0; n < refused_by.size(); ++n)
        lacking += refused_by[n] == mine && amount > allocatable[n] - requested[n];
      if (lacking > 0) (*nodes)[LackOf(column)] += lacking;
    };
    count(cluster::kPodsColumn, 1);
    for (const Request& request : requests_) count(request.column, request.amount);
  }

  bool NeedsDecide() const override { return !saturated_; }
  std::string LackOf(model::ResourceId column) const override {
    if (column == cluster::kPodsColumn) return "Too many pods";
    return fmt::format("Insufficient {}", snapshot_.resources().Text(column));
  }

  int64_t Room(NodeId n) const override {
    if (saturated_) return 0;
    int64_t room = std::max<int64_t>(0, snapshot_.Free(n, cluster::kPodsColumn));
    for (const Request& request : requests_) {
      const int64_t free = snapshot_.Free(n, request.column);
      if (free < request.amount) return 0;
      if (free / request.amount < room) room = free / request.amount;
    }
    return room;
  }

  void Needs(std::vector<std::pair<model::ResourceId, int64_t>>* amounts) const override {
    amounts->emplace_back(cluster::kPodsColumn, saturated_ ? std::numeric_limits<int64_t>::max() : 1);
    for (const Request& request : requests_) amounts->emplace_back(request.column, request.amount);
  }

  bool Reads(framework::NodeFacts* facts) const override {
    for (const Request& request : requests_) facts->columns.push_back(request.column);
    return true;
  }

  void CheckAll(RefusedBy mine, std::span<RefusedBy> refused_by) const override {
    CheckColumn(cluster::kPodsColumn, saturated_ ? std::numeric_limits<int64_t>::max() : 1, mine, refused_by);
    for (const Request& request : requests_) CheckColumn(request.column, request.amount, mine, refused_by);
  }

  void CheckSome(RefusedBy mine, std::span<const NodeId> nodes, std::span<RefusedBy> refused_by) const override {
    CheckColumn(cluster::kPodsColumn, saturated_ ? std::numeric_limits<int64_t>::max() : 1, mine, nodes, refused_by);
    for (const Request& request : requests_) CheckColumn(request.column, request.amount, mine, nodes, refused_by);
  }

 private:
  void CheckColumn(model::ResourceId column, int64_t amount, RefusedBy mine, std::span<const NodeId> nodes,
                   std::span<RefusedBy> refused_by) const {
    const int64_t* allocatable = snapshot_.allocatable(column).data();
    const int64_t* requested = snapshot_.requested(column).data();
    for (size_t i = 0; i < nodes.size(); ++i)
      if (const size_t n = nodes[i].index();
          amount > allocatable[n] - requested[n] && refused_by[i] == framework::kNobody)
        refused_by[i] = mine;
  }
  void CheckColumn(model::ResourceId column, int64_t amount, RefusedBy mine, std::span<RefusedBy> refused_by) const {
    const int64_t* allocatable = snapshot_.allocatable(column).data();
    const int64_t* requested = snapshot_.requested(column).data();
    for (size_t n = 0; n < refused_by.size(); ++n)
      if (amount > allocatable[n] - requested[n] && refused_by[n] == framework::kNobody) refused_by[n] = mine;
  }

  const cluster::Snapshot& snapshot_;
  const std::vector<Request> requests_;
  const bool saturated_;  // some amount is too large to count, so the pod fits on no node
};

// The strategies score one resource of one node. REQUIRES: capacity > 0.
struct LeastAllocated {
  static int64_t Score(int64_t requested, int64_t capacity) {
    return Percent(capacity - std::clamp<int64_t>(requested, 0, capacity), capacity);
  }
};
struct MostAllocated {
  static int64_t Score(int64_t requested, int64_t capacity) {
    return Percent(std::clamp<int64_t>(requested, 0, capacity), capacity);
  }
};

// The weighted mean of a strategy's scores over the resources that the node has.
template <typename Strategy>
struct WeightedMean {
  static int64_t Of(std::span<const ScoredResources::View> views, size_t n) {
    int64_t sum = 0, weights = 0;
    for (const ScoredResources::View& view : views) {
      const int64_t capacity = view.allocatable[n];
      if (capacity <= 0) continue;
      sum += view.weight * Strategy::Score(view.used[n] + view.pod, capacity);
      weights += view.weight;
    }
    return weights == 0 ? 0 : sum / weights;
  }
};
template <typename Strategy>
using FitScoreState = SlotScoreState<WeightedMean<Strategy>>;

// Scores by a piecewise linear function of utilization. The mean is rounded, and leaves out resources with score 0.
class RatioScoreState final : public framework::ScoreState {
 public:
  RatioScoreState(ScoredResources resources, const std::vector<std::pair<int64_t, int64_t>>& shape)
      : resources_(std::move(resources)) {
    for (int64_t utilization = 0; utilization <= 100; ++utilization) scores_.push_back(At(shape, utilization));
  }

  bool Reads(framework::NodeFacts* facts) const override { return resources_.Reads(facts); }
  int64_t Score(NodeId n) const override {
    resources_.Look(&views_);
    int64_t sum = 0, weights = 0;
    for (const ScoredResources::View& view : views_) {
      const int64_t capacity = view.allocatable[n.index()];
      if (capacity <= 0) continue;
      const int64_t requested = view.used[n.index()] + view.pod;
      const int64_t score =
          scores_[static_cast<size_t>(Percent(std::clamp<int64_t>(requested, 0, capacity), capacity))];
      if (score <= 0) continue;
      sum += view.weight * score;
      weights += view.weight;
    }
    return weights == 0 ? 0 : std::llround(static_cast<double>(sum) / static_cast<double>(weights));
  }

 private:
  static int64_t At(const std::vector<std::pair<int64_t, int64_t>>& shape, int64_t utilization) {
    for (size_t i = 0; i < shape.size(); ++i) {
      const auto [x, y] = shape[i];
      if (utilization > x) continue;
      if (i == 0) return y;
      const auto [x0, y0] = shape[i - 1];
      return y0 + (y - y0) * (utilization - x0) / (x - x0);
    }
    return shape.back().second;
  }

  const ScoredResources resources_;
  std::vector<int64_t> scores_;                       // by utilization
  mutable std::vector<ScoredResources::View> views_;  // scratch
};

}  // namespace

bool NodeResourcesFit::Ignores(std::string_view resource) const {
  if (!IsScalarResource(resource))
    return resource != model::kCpu && resource != model::kMemory && resource != model::kEphemeralStorage;
  if (!IsExtendedResource(resource)) return false;
  const std::string_view group = resource.substr(0, resource.find('/'));
  return std::ranges::find(args_.ignored_resources, resource) != args_.ignored_resources.end() ||
         std::ranges::find(args_.ignored_groups, group) != args_.ignored_groups.end();
}

std::unique_ptr<framework::FilterState> NodeResourcesFit::PrepareFilter(const cluster::PodClass& pod_class,
                                                                        const cluster::Snapshot& snapshot) const {
  std::vector<Request> requests;
  for (const auto& [column, amount] : pod_class.requests)
    if (amount > 0 && !Ignores(snapshot.resources().Text(column))) requests.push_back({column, amount});
  return std::make_unique<FitFilterState>(std::move(requests), pod_class.spec->saturated, snapshot);
}

std::unique_ptr<framework::ScoreState> NodeResourcesFit::PrepareScore(const cluster::PodClass& pod_class,
                                                                      const cluster::Snapshot& snapshot) const {
  ScoredResources resources(args_.resources, ScoredResources::Requests::kNonZero, pod_class, snapshot);
  switch (args_.strategy) {
    case FitArgs::Strategy::kLeastAllocated:
      return std::make_unique<FitScoreState<LeastAllocated>>(std::move(resources));
    case FitArgs::Strategy::kMostAllocated: return std::make_unique<FitScoreState<MostAllocated>>(std::move(resources));
    case FitArgs::Strategy::kRequestedToCapacityRatio:
      return std::make_unique<RatioScoreState>(std::move(resources), args_.shape);
  }
  return nullptr;
}

}  // namespace tutti::plugins
