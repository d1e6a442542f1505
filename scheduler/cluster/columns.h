// SPDX-License-Identifier: Apache-2.0
// Columns: an amount for each resource and node slot, resource by resource. A resource of which no node ever had any
// takes no room, however many such names there are: every user that may make a pod can name new ones.
//
// An amount may be a sum over the pods of a node. It is exact, whatever they ask for; what a reader sees of it stops at
// kLargestSum, so that adding, subtracting or comparing a few of them stays within int64.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "model/ids.h"

namespace tutti::cluster {

// No node counts as having more: one whose sum stops here is full.
inline constexpr int64_t kLargestSum = int64_t{1} << 62;

class Columns {
 public:
  __extension__ using Wide = __int128;

  size_t size() const { return amounts_.size(); }  // at least of those that are held
  std::span<const int64_t> operator[](model::ResourceId r) const { return holds(r) ? amounts_[r.index()] : nothing_; }
  int64_t at(model::ResourceId r, model::NodeId n) const { return holds(r) ? amounts_[r.index()][n.index()] : 0; }
  // Some node has, or had, some.
  bool holds(model::ResourceId r) const { return r.index() < amounts_.size() && !amounts_[r.index()].empty(); }

  // One more slot.
  void AddSlot() {
    nothing_.push_back(0);
    for (std::vector<int64_t>& column : amounts_)
      if (!column.empty()) column.push_back(0);
  }
  int64_t& Cell(model::ResourceId r, model::NodeId n) {
    if (r.index() >= amounts_.size()) amounts_.resize(r.index() + 1);
    std::vector<int64_t>& column = amounts_[r.index()];
    if (column.empty()) column = nothing_;
    return column[n.index()];
  }
  // Adds to a sum what one pod asks for, or takes it away. REQUIRES: at most model::kLargestRequest either way.
  void Add(model::ResourceId r, model::NodeId n, int64_t amount) {
    int64_t& cell = Cell(r, n);
    const int64_t sum = cell + amount;
    if (cell < kLargestSum && sum <= kLargestSum) [[likely]]
      cell = sum;
    else
      AddBeyond(r, n, amount);
  }
  // The same, of any amount.
  void AddBeyond(model::ResourceId r, model::NodeId n, Wide amount) {
    const auto beyond = beyond_.try_emplace({r, n}).first;
    int64_t& cell = Cell(r, n);
    const Wide sum = cell + beyond->second + amount;
    cell = static_cast<int64_t>(std::min<Wide>(sum, kLargestSum));
    beyond->second = sum - cell;
    if (beyond->second == 0) beyond_.erase(beyond);
  }
  // REQUIRES: no sums; those come to nothing by themselves.
  void ClearSlot(model::NodeId n) {
    for (std::vector<int64_t>& column : amounts_)
      if (!column.empty()) column[n.index()] = 0;
  }

 private:
  std::vector<std::vector<int64_t>> amounts_;
  std::vector<int64_t> nothing_;                                        // as long as a column
  std::map<std::pair<model::ResourceId, model::NodeId>, Wide> beyond_;  // of sums, what is not seen of them
};

}  // namespace tutti::cluster
