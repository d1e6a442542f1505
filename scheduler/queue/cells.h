// SPDX-License-Identifier: Apache-2.0
// Cells: (flavor, resource) pairs as dense ids, for as long as something names them. One thread.
//
// Pods make up resource names at will. So a cell is counted by its holders, and the lowest free id is used first: rows
// that are indexed by cell stay as short as the names that are in use.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/resource_list.h"
#include "queue/ids.h"

namespace tutti::queue {

class Cells {
 public:
  // Makes the cell if it is new, and counts one more holder.
  CellId Hold(std::string_view flavor, std::string_view resource);
  void Hold(CellId cell) { ++cells_[cell.index()].holders; }
  // Takes one holder back. CHECKs that there is one.
  void Release(CellId cell);

  // Invalid when nothing holds it.
  CellId Find(std::string_view flavor, std::string_view resource) const;
  const std::string& flavor(CellId cell) const { return cells_[cell.index()].name.first; }
  const std::string& resource(CellId cell) const { return cells_[cell.index()].name.second; }
  // Every id that is in use is below this.
  size_t end() const { return cells_.size(); }
  size_t size() const { return ids_.size(); }

 private:
  using Name = std::pair<std::string, std::string>;  // flavor, resource
  struct Cell {
    Name name;
    uint64_t holders = 0;
  };
  std::vector<Cell> cells_;
  std::map<Name, CellId> ids_;
  std::set<CellId> free_;
};

struct CellAmount {
  CellId cell;
  int64_t amount = 0;
  friend bool operator==(const CellAmount&, const CellAmount&) = default;
};

// Amounts by cell, which it holds while it lives: sorted by cell, each once, all above zero.
class Ask {
 public:
  Ask() = default;
  // Leaves out what is zero or below. `cells` must outlive this.
  Ask(Cells& cells, const model::ResourceList& amounts, std::string_view flavor = {});
  Ask(const Ask& other);
  Ask(Ask&& other) noexcept { Swap(other); }
  Ask& operator=(Ask other) noexcept {
    Swap(other);
    return *this;
  }
  ~Ask();

  // 0 when absent.
  int64_t Get(CellId cell) const;
  bool empty() const { return amounts_.empty(); }
  auto begin() const { return amounts_.begin(); }
  auto end() const { return amounts_.end(); }

 private:
  void Swap(Ask& other) noexcept {
    std::swap(cells_, other.cells_);
    std::swap(amounts_, other.amounts_);
  }
  Cells* cells_ = nullptr;
  std::vector<CellAmount> amounts_;
};

}  // namespace tutti::queue
