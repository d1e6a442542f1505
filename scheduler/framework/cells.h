// SPDX-License-Identifier: Apache-2.0
// Cells: groups nodes to which a state gives the same shared answer, and finds the best node of each cell. A new pod in
// a zone may change the score of every node there, or close the zone. A ranking with cells then changes one number of
// each cell, and nothing for its nodes.
//
// A cell is a heap of its nodes by total. A changed node is pushed again. Its old entry is dropped when it comes to the
// top, or when old entries take too much of the heap. So a change costs O(log nodes), amortised.
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
  // The values that the nodes of a cell share.
  using Name = std::vector<int64_t>;

  // `totals` has the total of each node in a cell, and must outlive this.
  explicit Cells(const BestNode& totals) : totals_(totals) {}

  // Puts the node into that cell only, with its present total.
  void Put(model::NodeId n, const Name& name);
  void TakeOut(model::NodeId n);
  // Says that totals may have changed, but no node its cell. Costs one pass over all nodes.
  void TotalsChanged();
  void Clear();

  // Returns the number of cells; some may be empty.
  size_t size() const { return cells_.size(); }
  size_t nodes(size_t cell) const { return cells_[cell].nodes; }
  // Returns the node with the highest total, the lowest such slot; invalid when the cell is empty.
  model::NodeId Best(size_t cell);

  size_t memory() const;  // in bytes

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  // The total in the high bits; the slot in the low bits, so that the lowest slot is first.
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
