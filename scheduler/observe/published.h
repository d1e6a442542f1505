// SPDX-License-Identifier: Apache-2.0
// Published<T>: holds the newest view that one thread shows to others. Thread-safe.
//
// A costly view is made only on request: Fresh() raises wanted(); the owner reads that once a cycle and answers with
// Publish(). Views are immutable, so a reader may keep one for any time. A replaced view that was made on request is
// freed by a reader, not by the owner, because that may take as long as making it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/mutex.h"

namespace tutti::observe {

template <typename T>
class Published {
 public:
  void Publish(std::shared_ptr<const T> view) {
    const base::MutexLock lock(mutex_);
    Put(std::move(view), asked_);
  }
  // Publishes a view that was begun when wanted() was `request`. Later requests wait for the next view.
  void Publish(std::shared_ptr<const T> view, uint64_t request) {
    const base::MutexLock lock(mutex_);
    replaced_ = std::move(view_);
    Put(std::move(view), request);
  }

  // Returns the newest view; null before the first Publish.
  std::shared_ptr<const T> Latest() const {
    const base::MutexLock lock(mutex_);
    return view_;
  }

  // Returns a view made after this call, or the newest one if none comes within `timeout`. Calls `wake` so that a
  // sleeping owner reads wanted().
  std::shared_ptr<const T> Fresh(std::chrono::milliseconds timeout, const std::function<void()>& wake) {
    const uint64_t mine = Ask();
    wake();
    const auto until = std::chrono::steady_clock::now() + timeout;
    std::shared_ptr<const T> replaced;  // outlives the lock
    const base::MutexLock lock(mutex_);
    while (answered_ < mine && arrived_.WaitUntil(mutex_, until)) {
    }
    replaced = std::move(replaced_);
    return view_;
  }

  // Returns the number of the last unanswered request; 0: no reader waits in Fresh().
  uint64_t wanted() const {
    const base::MutexLock lock(mutex_);
    return asked_ == answered_ ? 0 : asked_;
  }

 private:
  void Put(std::shared_ptr<const T> view, uint64_t request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    view_ = std::move(view);
    answered_ = request;
    arrived_.NotifyAll();
  }
  uint64_t Ask() {
    const base::MutexLock lock(mutex_);
    return ++asked_;
  }

  mutable base::Mutex mutex_;
  base::Condition arrived_;
  std::shared_ptr<const T> view_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const T> replaced_ ABSL_GUARDED_BY(mutex_);
  uint64_t asked_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t answered_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tutti::observe
