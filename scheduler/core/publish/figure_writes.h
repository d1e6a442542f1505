// SPDX-License-Identifier: Apache-2.0
// FigureWrites: how many waiting pods are told new figures, where the rest of their reason is the same.
//
// In a busy cluster the figures of all gangs that wait change all the time, and 10,000 gangs would be written to
// without end. So 2,000 pods may be told at once, and 500 a second from then on; the gangs beyond that stand in line,
// each once, and are told in turn, with what is true by then. What is said for the first time, or in other words, does
// not wait here. One thread.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "model/ids.h"

namespace tutti::core {

class FigureWrites {
 public:
  static constexpr int64_t kAtOnce = 2'000, kPerSecond = 500, kBatch = 50;

  // Tells whether some pod may be told now.
  bool Any(base::Millis now_ms) {
    left_ = std::min(kAtOnce * 1000, left_ + (now_ms - as_of_ms_) * kPerSecond);
    as_of_ms_ = now_ms;
    return left_ > 0;
  }
  // Counts pods that were told. A gang is told as a whole: if that is too much, the next ones wait longer.
  void Spend(int64_t pods) { left_ -= pods * 1000; }

  // Puts the gang in line. REQUIRES: it does not stand there.
  void Enqueue(model::GangId id) { line_.push_back(id); }
  // Takes the first in line, if it may be told now; it leaves the line.
  std::optional<model::GangId> Take(base::Millis now_ms) {
    if (line_.empty() || !Any(now_ms)) return std::nullopt;
    const model::GangId id = line_.front();
    line_.pop_front();
    return id;
  }
  // Returns when Take gives one, or, after it gave none, several; nullopt: the line is empty.
  std::optional<base::Millis> DueAt() const {
    if (line_.empty()) return std::nullopt;
    return left_ > 0 ? as_of_ms_ : as_of_ms_ + (kBatch * 1000 - left_) / kPerSecond;
  }

 private:
  int64_t left_ = kAtOnce * 1000;  // in thousandths of a pod
  base::Millis as_of_ms_ = 0;
  std::deque<model::GangId> line_;
};

}  // namespace tutti::core
