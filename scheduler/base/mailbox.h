// SPDX-License-Identifier: Apache-2.0
// Mailbox<T>: many threads put, one takes all that is there at once. Thread-safe.
//
// Invariants
//   (1) nothing is dropped: items with a key replace an earlier item of the same key that has not been taken yet
//       (the newest state of an object is all that matters, and it keeps the older one's place in line);
//   (2) so the number of items waiting is bounded by the number of distinct keys, plus the keyless ones, which their
//       senders bound (one answer per command in flight).
#pragma once

#include <chrono>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace tutti::base {

template <typename T>
class Mailbox {
 public:
  void Put(T item) {
    const MutexLock lock(mutex_);
    items_.push_back(std::move(item));
    arrived_.NotifyOne();
  }

  // `key` names the object; an empty key is never coalesced.
  void PutKeyed(std::string key, T item) {
    const MutexLock lock(mutex_);
    const auto [at, fresh] = place_.try_emplace(std::move(key), items_.size());
    if (fresh) {
      items_.push_back(std::move(item));
      arrived_.NotifyOne();
    } else {
      items_[at->second] = std::move(item);
    }
  }

  // All items waiting; blocks until there is one, Wake() is called, or `timeout` passes.
  std::vector<T> TakeAll(std::chrono::milliseconds timeout) {
    const auto until = std::chrono::steady_clock::now() + timeout;
    const MutexLock lock(mutex_);
    while (items_.empty() && !woken_ && arrived_.WaitUntil(mutex_, until)) {
    }
    woken_ = false;
    place_.clear();
    return std::exchange(items_, {});
  }

  void Wake() {
    const MutexLock lock(mutex_);
    woken_ = true;
    arrived_.NotifyOne();
  }

 private:
  Mutex mutex_;
  Condition arrived_;
  std::vector<T> items_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<std::string, size_t> place_ ABSL_GUARDED_BY(mutex_);
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tutti::base
