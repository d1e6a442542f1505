// SPDX-License-Identifier: Apache-2.0
// Journal: the gangs whose Decisions changed, in order. Each change has a sequence number.
//
// It holds keys, not Decisions: a reader gets the record as it is when it asks. So a change costs one key, however
// large the gang is, and a reader only pays for the gangs that changed since its last request. Memory is bounded. A
// reader that asks too late gets nullopt, and must list all Decisions again. So must a reader whose number is of
// another process, for each process begins with numbers of its own.
//
// One thread: the scheduler's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "model/gang.h"

namespace tutti::observe {

class Journal {
 public:
  static constexpr size_t kKept = 65'536;  // changes; some 10 MB

  // The first change is number `before` + 1.
  explicit Journal(uint64_t before = 0, size_t kept = kKept) : kept_(kept), dropped_(before) {}

  void Note(model::GangKey gang) {
    changes_.push_back(std::move(gang));
    if (changes_.size() <= kept_) return;
    changes_.pop_front();
    ++dropped_;
  }

  // Of the last change.
  uint64_t last() const { return dropped_ + changes_.size(); }

  struct Changes {
    uint64_t sequence = 0;              // of the last of them
    std::vector<model::GangKey> gangs;  // each once, sorted
  };
  // The `most` changes that follow `sequence`, or fewer if there are no more. nullopt: the journal does not reach so
  // far back, or has not come so far.
  std::optional<Changes> After(uint64_t sequence, size_t most = kKept) const {
    if (sequence < dropped_ || sequence > last()) return std::nullopt;
    const auto from = changes_.begin() + static_cast<ptrdiff_t>(sequence - dropped_);
    const auto to = from + static_cast<ptrdiff_t>(std::min(static_cast<size_t>(changes_.end() - from), most));
    Changes changes{sequence + static_cast<uint64_t>(to - from), {from, to}};
    std::ranges::sort(changes.gangs);
    const auto twice = std::ranges::unique(changes.gangs);
    changes.gangs.erase(twice.begin(), twice.end());
    return changes;
  }

 private:
  const size_t kept_;
  std::deque<model::GangKey> changes_;
  uint64_t dropped_ = 0;
};

}  // namespace tutti::observe
