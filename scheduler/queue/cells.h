// SPDX-License-Identifier: Apache-2.0
// Cells: gives (flavor, resource) pairs dense ids, as long as they are in use. One thread.
//
// Pods may have any resource names. So each cell counts its holders, and the lowest free id is used first. Rows that
// are indexed by cell then stay as short as the number of names in use.
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
  // Removes one holder. CHECKs that there is one.
  void Release(CellId cell);

  // Returns the cell's id; invalid when it has no holder.
  CellId Find(std::string_view flavor, std::string_view resource) const;
  const std::string& flavor(CellId cell) const { return cells_[cell.index()].name.first; }
  const std::string& resource(CellId cell) const { return cells_[cell.index()].name.second; }
  // All ids in use are below this.
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

// Ask: amounts by cell, sorted by cell, each cell once, all above zero. It holds its cells.
class Ask {
 public:
  Ask() = default;
  // Leaves out amounts of zero or below. `cells` must outlive this.
  Ask(Cells& cells, const model::ResourceList& amounts, std::string_view flavor = {});
  Ask(Cells& cells, std::vector<CellAmount> amounts);
  Ask(const Ask& other);
  Ask(Ask&& other) noexcept { Swap(other); }
  Ask& operator=(Ask other) noexcept {
    Swap(other);
    return *this;
  }
  ~Ask();

  // Returns the amount of a cell; 0 when absent.
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
