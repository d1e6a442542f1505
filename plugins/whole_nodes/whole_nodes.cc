// SPDX-License-Identifier: Apache-2.0
#include "plugins/whole_nodes/whole_nodes.h"

#include <algorithm>

#include "plugins/common/resource_names.h"

namespace tutti::plugins {
namespace {

using model::NodeId;

class WholeNodesState final : public framework::ScoreState {
 public:
  WholeNodesState(std::vector<std::pair<model::ResourceId, int64_t>> requests, const cluster::Snapshot& snapshot)
      : snapshot_(snapshot), requests_(std::move(requests)) {}

  bool Reads(framework::NodeFacts* facts) const override {
    for (const auto& [column, amount] : requests_) facts->columns.push_back(column);
    return true;
  }
  // Scores a node in use with 51 to 100: the less it has left, the higher. Scores a whole node with up to 50: the more
  // of it is taken, the higher.
  int64_t Score(NodeId n) const override {
    int64_t left = 0, taken = 0;
    bool whole = true;
    for (const auto& [column, amount] : requests_) {
      const int64_t capacity = std::max<int64_t>(1, snapshot_.allocatable(column)[n.index()]);
      const int64_t used = snapshot_.requested(column)[n.index()];
      whole = whole && used == 0;
      left = std::max(left, Share(49, capacity - used - amount, capacity));
      taken = std::max(taken, Share(50, amount, capacity));
    }
    return whole ? taken : 100 - left;
  }

 private:
  // Returns `most` · part/whole, rounded up, so that only 0 gives 0.
  __extension__ using Wide = __int128;
  static int64_t Share(int64_t most, int64_t part, int64_t whole) {
    const Wide of_part = Wide{most} * std::clamp<int64_t>(part, 0, whole);
    return static_cast<int64_t>((of_part + whole - 1) / whole);
  }

  const cluster::Snapshot& snapshot_;
  const std::vector<std::pair<model::ResourceId, int64_t>> requests_;
};

}  // namespace

std::unique_ptr<framework::ScoreState> WholeNodes::PrepareScore(const cluster::PodClass& pod_class,
                                                                const cluster::Snapshot& snapshot) const {
  std::vector<std::pair<model::ResourceId, int64_t>> extended;
  for (const auto& [column, amount] : pod_class.requests)
    if (amount > 0 && IsExtendedResource(snapshot.resources().Text(column))) extended.emplace_back(column, amount);
  return extended.empty() ? nullptr : std::make_unique<WholeNodesState>(std::move(extended), snapshot);
}

}  // namespace tutti::plugins
