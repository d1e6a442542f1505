// SPDX-License-Identifier: Apache-2.0
// Columns: an amount for each resource and node slot, resource by resource. A resource of which no node ever had any
// takes no room, however many such names there are: whoever may make a pod can name new ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/ids.h"

namespace tutti::cluster {

class Columns {
 public:
  size_t size() const { return amounts_.size(); }
  std::span<const int64_t> operator[](model::ResourceId r) const {
    const std::vector<int64_t>& column = amounts_[r.index()];
    return column.empty() ? nothing_ : column;
  }
  int64_t at(model::ResourceId r, model::NodeId n) const {
    const std::vector<int64_t>& column = amounts_[r.index()];
    return column.empty() ? 0 : column[n.index()];
  }
  // Some node has, or had, some.
  bool holds(model::ResourceId r) const { return !amounts_[r.index()].empty(); }

  // One more resource; one more slot.
  void AddColumn() { amounts_.emplace_back(); }
  void AddSlot() {
    nothing_.push_back(0);
    for (std::vector<int64_t>& column : amounts_)
      if (!column.empty()) column.push_back(0);
  }
  int64_t& Cell(model::ResourceId r, model::NodeId n) {
    std::vector<int64_t>& column = amounts_[r.index()];
    if (column.empty()) column = nothing_;
    return column[n.index()];
  }
  void ClearSlot(model::NodeId n) {
    for (std::vector<int64_t>& column : amounts_)
      if (!column.empty()) column[n.index()] = 0;
  }

 private:
  std::vector<std::vector<int64_t>> amounts_;
  std::vector<int64_t> nothing_;  // as long as a column
};

}  // namespace tutti::cluster
