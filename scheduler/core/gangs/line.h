// SPDX-License-Identifier: Apache-2.0
// Line: ids in an order, from which the first is taken. An id that comes stands aside until the next is taken, and then
// finds its place together with all others that came: a thousand that come together cost one sort. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"

namespace tutti::core {

// `Before` is a total order, which must not change for an id while it is in the line.
template <typename Id, typename Before>
class Line {
 public:
  explicit Line(Before before) : before_(std::move(before)) {}

  bool empty() const { return sorted_.empty() && came_.empty(); }
  // Adds the id. REQUIRES: it is not in the line.
  void Insert(Id id) { came_.push_back(id); }
  // Returns the first id. REQUIRES: not empty.
  Id First() {
    Merge();
    return sorted_.back();
  }
  // Takes the first id out. REQUIRES: not empty.
  Id TakeFirst() {
    Merge();
    const Id first = sorted_.back();
    sorted_.pop_back();
    return first;
  }
  // Takes the id out. REQUIRES: it is in the line.
  void Erase(Id id) {
    Merge();
    const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), id, After());
    TUTTI_CHECK(at != sorted_.end() && *at == id, "an id that leaves the line stands in it");
    sorted_.erase(at);
  }

 private:
  auto After() const {
    return [this](Id a, Id b) { return before_(b, a); };
  }
  // Moves each id that came to its place, from the last to the first: a search for its place, and one move of those
  // between it and the place before.
  void Merge() {
    if (came_.empty()) return;
    if (!std::is_sorted(came_.begin(), came_.end(), before_)) std::sort(came_.begin(), came_.end(), before_);
    auto from = sorted_.size();
    sorted_.resize(from + came_.size());
    for (size_t left = came_.size(), first = 0; left > 0; --left, ++first) {
      const auto begin = sorted_.begin(), end = begin + static_cast<ptrdiff_t>(from);
      const auto place = std::lower_bound(begin, end, came_[first], After());
      std::move_backward(place, end, end + static_cast<ptrdiff_t>(left));
      from = static_cast<size_t>(place - begin);
      sorted_[from + left - 1] = came_[first];
    }
    came_.clear();
  }

  Before before_;
  std::vector<Id> sorted_;  // the first is at the end
  std::vector<Id> came_;
};

}  // namespace tutti::core
