// SPDX-License-Identifier: Apache-2.0
// ChangeLog<T>: what changed, in order, for readers that each keep their own place in it. The oldest half is dropped
// when it outgrows its bound: a reader that lags so far has more to read than starting over costs. The bound is of
// entries, and of the bytes that so many ordinary ones keep alive. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/ids.h"

namespace tutti::cluster {

// What an entry keeps alive beside itself.
inline size_t KeptBy(model::NodeId) { return 0; }

template <typename T>
class ChangeLog {
 public:
  // A reader that asks may read from here later on.
  uint64_t end() const { return asked_ = start_ + entries_.size(); }

  // True if the newest entry names this already and no reader has read past it: another like it would say nothing.
  bool Says(const T& entry) const {
    return start_ + entries_.size() > asked_ && !entries_.empty() && entries_.back() == entry;
  }

  // Appends entries [from, end()) to `out`; false when entries that old have been dropped.
  bool Read(uint64_t from, std::vector<T>* out) const {
    if (from < start_) return false;
    out->insert(out->end(), entries_.begin() + static_cast<ptrdiff_t>(from - start_), entries_.end());
    return true;
  }

  void Push(T entry, size_t bound) {
    const size_t most = std::max<size_t>(kShortest, bound), most_bytes = kOrdinary * most;
    if (entries_.size() >= most || bytes_ > most_bytes) {
      size_t dropped = 0;
      while (dropped < entries_.size() / 2 || bytes_ > most_bytes / 2) bytes_ -= KeptBy(entries_[dropped++]);
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<ptrdiff_t>(dropped));
      start_ += dropped;
    }
    bytes_ += KeptBy(entry);
    entries_.push_back(std::move(entry));
  }

  // A change that is not kept: a reader from before it starts over.
  void Skip() {
    start_ += entries_.size() + 1;
    entries_.clear();
    bytes_ = 0;
  }

  // Where it ends, for TakeBack: nothing may be read from here.
  uint64_t place() const { return start_ + entries_.size(); }
  // Takes back what came after `place`, for all of it was undone; unless a reader has read some of that.
  void TakeBack(uint64_t place) {
    if (asked_ > place) return;
    for (; !entries_.empty() && this->place() > place; entries_.pop_back()) bytes_ -= KeptBy(entries_.back());
  }

  size_t bytes() const { return bytes_; }  // kept by the entries

 private:
  static constexpr size_t kShortest = 4096, kOrdinary = 4096;

  std::vector<T> entries_;
  size_t bytes_ = 0;
  uint64_t start_ = 0;
  mutable uint64_t asked_ = 0;
};

}  // namespace tutti::cluster
