// SPDX-License-Identifier: Apache-2.0
// Cells: nodes that have in common what a state says of them, and the best node of each cell. A pod that comes to a
// zone may change the score of every node there, or close the zone: to a ranking that keeps cells this is one number of
// each cell, and nothing of its nodes.
//
// A cell is a heap of its nodes by their totals. A node that changed is pushed again; what was pushed before is dropped
// when it comes to the top, or when it takes up too much of the heap. So a change costs O(log nodes), amortised.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "framework/best_node.h"
#include "model/ids.h"

namespace tutti::framework {

class Cells {
 public:
  // What the nodes of a cell have in common.
  using Name = std::vector<int64_t>;

  // `totals` must outlive this. It has the total of each node that is in a cell.
  explicit Cells(const BestNode& totals) : totals_(totals) {}

  // The node is in that cell alone, with the total that it has now.
  void Put(model::NodeId n, const Name& name);
  void TakeOut(model::NodeId n);
  // Any total may have changed, but no node its cell: costs one pass over all.
  void TotalsChanged();
  void Clear();

  // Cells are numbered; some may be empty.
  size_t size() const { return cells_.size(); }
  size_t nodes(size_t cell) const { return cells_[cell].nodes; }
  // The node with the highest total, the lowest such slot; invalid when the cell is empty.
  model::NodeId Best(size_t cell);

  size_t memory() const;  // in bytes

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  // A total above, and below it the slot so that the lowest comes first.
  using Entry = int64_t;
  struct Cell {
    size_t nodes = 0;
    std::vector<Entry> heap;
  };

  static Entry MakeEntry(size_t slot, int32_t total) {
    return static_cast<Entry>(total) * (Entry{1} << 32) + (kNone - static_cast<Entry>(slot));
  }
  static size_t SlotOf(Entry entry) { return kNone - static_cast<uint32_t>(entry); }
  bool Holds(size_t cell, Entry entry) const {
    const size_t slot = SlotOf(entry);
    return cell_of_[slot] == cell && MakeEntry(slot, totals_.total(slot)) == entry;
  }
  void Compact(size_t cell);

  const BestNode& totals_;
  std::vector<uint32_t> cell_of_;  // by slot
  std::vector<Cell> cells_;
  absl::flat_hash_map<Name, uint32_t> by_name_;
};

}  // namespace tutti::framework
