// SPDX-License-Identifier: Apache-2.0
// Journal: which gangs' Decisions changed, in order, each change under a sequence number of its own.
//
// It holds keys, not Decisions: a reader gets the record as it is when it asks. So a change costs one key, however
// many members the gang has, and a reader pays for the gangs that changed since it last asked, not for all.
// Memory is bounded. A reader who asks too late is told so, and lists all Decisions again.
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

  explicit Journal(size_t kept = kKept) : kept_(kept) {}

  void Note(model::GangKey gang) {
    changes_.push_back(std::move(gang));
    if (changes_.size() <= kept_) return;
    changes_.pop_front();
    ++dropped_;
  }

  // Of the last change; 0: there was none.
  uint64_t last() const { return dropped_ + changes_.size(); }

  // The gangs that changed after `sequence`, each once, sorted. nullopt: the journal does not reach so far back.
  std::optional<std::vector<model::GangKey>> After(uint64_t sequence) const {
    if (sequence < dropped_) return std::nullopt;
    if (sequence >= last()) return std::vector<model::GangKey>();
    std::vector<model::GangKey> gangs(changes_.begin() + static_cast<ptrdiff_t>(sequence - dropped_), changes_.end());
    std::ranges::sort(gangs);
    const auto twice = std::ranges::unique(gangs);
    gangs.erase(twice.begin(), twice.end());
    return gangs;
  }

 private:
  const size_t kept_;
  std::deque<model::GangKey> changes_;
  uint64_t dropped_ = 0;
};

}  // namespace tutti::observe
