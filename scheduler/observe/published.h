// SPDX-License-Identifier: Apache-2.0
// Published<T>: the newest view that one thread shows to others. Thread-safe.
//
// A view that is costly to make is made only when it is asked for: Fresh() raises wanted(), the owner looks at it once
// a cycle and answers with Publish(). Views are immutable, so a reader keeps its own for as long as it likes. One that
// was asked for and is replaced is freed by a reader, not by the owner: that may take as long as to make it.
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
  // One that was begun when wanted() was `request`: who asked since waits for the next.
  void Publish(std::shared_ptr<const T> view, uint64_t request) {
    const base::MutexLock lock(mutex_);
    replaced_ = std::move(view_);
    Put(std::move(view), request);
  }

  // Null before the first Publish.
  std::shared_ptr<const T> Latest() const {
    const base::MutexLock lock(mutex_);
    return view_;
  }

  // A view made after this call, or the latest one when none comes within `timeout`. `wake` is called so that an owner
  // who sleeps looks at wanted().
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

  // Not 0: a reader waits in Fresh().
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
