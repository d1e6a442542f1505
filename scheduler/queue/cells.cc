// SPDX-License-Identifier: Apache-2.0
#include "queue/cells.h"

#include <algorithm>

#include "base/check.h"

namespace tutti::queue {

CellId Cells::Hold(std::string_view flavor, std::string_view resource) {
  const auto [at, added] = ids_.try_emplace(Name(flavor, resource));
  if (added) {
    if (free_.empty()) {
      at->second = CellId(static_cast<uint32_t>(cells_.size()));
      cells_.emplace_back();
    } else {
      at->second = *free_.begin();
      free_.erase(free_.begin());
    }
    cells_[at->second.index()].name = at->first;
  }
  Hold(at->second);
  return at->second;
}

void Cells::Release(CellId cell) {
  Cell& record = cells_[cell.index()];
  TUTTI_CHECK(record.holders > 0, "a cell is released once for each time it was held: " + record.name.second);
  if (--record.holders > 0) return;
  ids_.erase(record.name);
  record.name = {};
  free_.insert(cell);
  while (!free_.empty() && free_.rbegin()->index() + 1 == cells_.size()) {
    free_.erase(std::prev(free_.end()));
    cells_.pop_back();
  }
}

CellId Cells::Find(std::string_view flavor, std::string_view resource) const {
  const auto at = ids_.find(Name(flavor, resource));
  return at == ids_.end() ? CellId() : at->second;
}

Ask::Ask(Cells& cells, const model::ResourceList& amounts, std::string_view flavor) : cells_(&cells) {
  for (const auto& [resource, amount] : amounts)
    if (amount > 0) amounts_.push_back({cells.Hold(flavor, resource), amount});
  std::ranges::sort(amounts_, {}, &CellAmount::cell);
}

Ask::Ask(Cells& cells, std::vector<CellAmount> amounts) : cells_(&cells), amounts_(std::move(amounts)) {
  std::erase_if(amounts_, [](const CellAmount& a) { return a.amount <= 0; });
  std::ranges::sort(amounts_, {}, &CellAmount::cell);
  for (const auto& [cell, amount] : amounts_) cells_->Hold(cell);
}

Ask::Ask(const Ask& other) : cells_(other.cells_), amounts_(other.amounts_) {
  for (const auto& [cell, amount] : amounts_) cells_->Hold(cell);
}

Ask::~Ask() {
  for (const auto& [cell, amount] : amounts_) cells_->Release(cell);
}

int64_t Ask::Get(CellId cell) const {
  const auto at = std::ranges::lower_bound(amounts_, cell, {}, &CellAmount::cell);
  return at == amounts_.end() || at->cell != cell ? 0 : at->amount;
}

}  // namespace tutti::queue
