// SPDX-License-Identifier: Apache-2.0
// DueReports<Key>: the objects about which a report is due, and when. Reports are made ten times a second at most. One
// thread.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"

namespace tutti::core {

template <typename Key>
class DueReports {
 public:
  // Marks the object to be reported as soon as possible.
  void Mark(const Key& key) { due_.try_emplace(key, 0); }
  // Marks the object to be reported at that instant (monotonic), not before.
  void MarkAt(const Key& key, base::Millis at_ms) { due_[key] = at_ms; }
  // Marks an object of which nothing can be said now.
  void MarkLater(const Key& key, base::Millis now_ms) { MarkAt(key, now_ms + kLaterMs); }

  // Takes the objects that are due, sorted. Returns none if reports were made a moment ago.
  std::vector<Key> Take(base::Millis now_ms) {
    std::vector<Key> taken;
    if (due_.empty() || now_ms < next_ms_) return taken;
    std::erase_if(due_, [&](const auto& item) {
      if (item.second > now_ms) return false;
      taken.push_back(item.first);
      return true;
    });
    next_ms_ = now_ms + kEveryMs;
    return taken;
  }

  // Returns when Take has something (monotonic); nullopt: no object is marked.
  std::optional<base::Millis> DueAt() const {
    if (due_.empty()) return std::nullopt;
    const auto first = std::ranges::min_element(due_, {}, [](const auto& item) { return item.second; });
    return std::max(next_ms_, first->second);
  }

 private:
  static constexpr base::Millis kEveryMs = 100, kLaterMs = 5'000;
  std::map<Key, base::Millis> due_;  // not before that
  base::Millis next_ms_ = 0;
};

}  // namespace tutti::core
