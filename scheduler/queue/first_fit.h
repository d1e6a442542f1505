// SPDX-License-Identifier: Apache-2.0
// FirstFit: keeps items in an order, each with a need, and finds the first item whose need is at most a budget. One
// thread.
//
// It is a treap in which each node has the least need below it. So Put, Erase and First cost the logarithm of the
// number of items. The shape depends only on the ids, so that the same input takes the same steps.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace tutti::queue {

// A place in an order: lower comes first, field by field. The id makes it unique.
struct Rank {
  int64_t band = 0;
  double share = 0;
  int64_t age = 0;
  uint32_t id = 0;
  friend bool operator<(const Rank& a, const Rank& b) {
    return std::tie(a.band, a.share, a.age, a.id) < std::tie(b.band, b.share, b.age, b.id);
  }
  friend bool operator==(const Rank&, const Rank&) = default;
};

class FirstFit {
 public:
  // Adds the item `rank.id`, or changes its rank and need.
  void Put(const Rank& rank, int64_t need);
  // Removes the item, if it is there.
  void Erase(uint32_t id);
  // Returns the id of the first item whose need is at most `budget`.
  std::optional<uint32_t> First(int64_t budget) const;

  // Returns the rank of the item. REQUIRES: it is there.
  const Rank& rank(uint32_t id) const { return nodes_[at_.at(id)].rank; }

  bool empty() const { return at_.empty(); }
  size_t size() const { return at_.size(); }
  // Returns the least need of all items. REQUIRES: there are items.
  int64_t least_need() const { return nodes_[root_].least; }

 private:
  using Index = uint32_t;
  static constexpr Index kNone = UINT32_MAX;
  struct Node {
    Rank rank;
    int64_t need = 0, least = 0;
    uint64_t height = 0;  // pseudo-random: the node with the greater height is the parent
    Index left = kNone, right = kNone;
  };
  void Pull(Index node);
  // Splits `tree` into the part before `rank` and the rest.
  void Split(Index tree, const Rank& rank, Index* before, Index* rest);
  Index Merge(Index before, Index after);
  Index Without(Index tree, const Rank& rank);

  std::vector<Node> nodes_;
  std::vector<Index> free_;
  Index root_ = kNone;
  absl::flat_hash_map<uint32_t, Index> at_;
};

}  // namespace tutti::queue
