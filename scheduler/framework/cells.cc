// SPDX-License-Identifier: Apache-2.0
#include "framework/cells.h"

#include <algorithm>
#include <functional>

namespace tutti::framework {

using model::NodeId;

void Cells::Put(NodeId n, const Name& name) {
  const size_t slot = n.index();
  if (slot >= cell_of_.size()) cell_of_.resize(totals_.size(), kNone);
  const auto [at, fresh] = by_name_.try_emplace(name, static_cast<uint32_t>(cells_.size()));
  if (fresh) cells_.emplace_back();
  if (cell_of_[slot] != at->second) {
    TakeOut(n);
    cell_of_[slot] = at->second;
    ++cells_[at->second].nodes;
  }
  Cell& cell = cells_[at->second];
  cell.heap.push_back(MakeEntry(slot, totals_.total(slot)));
  std::ranges::push_heap(cell.heap);
  constexpr size_t kFew = 64;
  if (cell.heap.size() > cell.nodes + cell.nodes / 2 + kFew) Compact(at->second);
}

void Cells::TakeOut(NodeId n) {
  const size_t slot = n.index();
  if (slot >= cell_of_.size() || cell_of_[slot] == kNone) return;
  --cells_[cell_of_[slot]].nodes;
  cell_of_[slot] = kNone;
}

void Cells::TotalsChanged() {
  for (Cell& cell : cells_) cell.heap.clear();
  for (size_t slot = 0; slot < cell_of_.size(); ++slot)
    if (cell_of_[slot] != kNone) cells_[cell_of_[slot]].heap.push_back(MakeEntry(slot, totals_.total(slot)));
  for (Cell& cell : cells_) std::ranges::make_heap(cell.heap);
}

void Cells::Clear() {
  cell_of_.clear();
  cells_.clear();
  by_name_.clear();
}

// Removes old entries. The rest is sorted downwards, which makes it a heap.
void Cells::Compact(size_t cell) {
  std::vector<Entry>& heap = cells_[cell].heap;
  std::erase_if(heap, [&](Entry entry) { return !Holds(cell, entry); });
  std::ranges::sort(heap, std::greater());
  heap.erase(std::unique(heap.begin(), heap.end()), heap.end());
}

NodeId Cells::Best(size_t cell) {
  std::vector<Entry>& heap = cells_[cell].heap;
  if (cells_[cell].nodes == 0) {
    heap.clear();
    return {};
  }
  while (!Holds(cell, heap.front())) {
    std::ranges::pop_heap(heap);
    heap.pop_back();
  }
  return NodeId(static_cast<uint32_t>(SlotOf(heap.front())));
}

size_t Cells::memory() const {
  size_t bytes = cell_of_.capacity() * sizeof(uint32_t) + cells_.capacity() * sizeof(Cell);
  for (const Cell& cell : cells_) bytes += cell.heap.capacity() * sizeof(Entry);
  for (const auto& [name, cell] : by_name_) bytes += sizeof(Name) + sizeof cell + name.capacity() * sizeof name[0];
  return bytes;
}

}  // namespace tutti::framework
