// SPDX-License-Identifier: Apache-2.0
// Published<T>: the newest view that one thread shows to others. One of the three classes with a mutex.
//
// A view that is costly to make is made only when somebody asks: Fresh() raises wanted(), the owner looks at it once
// a cycle and answers with Publish(). Views are immutable, so a reader keeps its own for as long as it likes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace tutti::observe {

template <typename T>
class Published {
 public:
  void Publish(std::shared_ptr<const T> view) {
    const std::lock_guard lock(mutex_);
    view_ = std::move(view);
    ++published_;
    answered_ = asked_;
    arrived_.notify_all();
  }

  // Null before the first Publish.
  std::shared_ptr<const T> Latest() const {
    const std::lock_guard lock(mutex_);
    return view_;
  }

  // A view made after this call, or the latest one when none comes within `timeout`. `wake` is called so that an owner
  // who sleeps looks at wanted().
  std::shared_ptr<const T> Fresh(std::chrono::milliseconds timeout, const std::function<void()>& wake) {
    std::unique_lock lock(mutex_);
    const uint64_t mine = ++asked_;
    lock.unlock();
    wake();
    lock.lock();
    arrived_.wait_for(lock, timeout, [&] { return answered_ >= mine; });
    return view_;
  }

  // Somebody waits in Fresh().
  bool wanted() const {
    const std::lock_guard lock(mutex_);
    return asked_ != answered_;
  }

  uint64_t published() const {
    const std::lock_guard lock(mutex_);
    return published_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  // guarded by mutex_
  std::shared_ptr<const T> view_;
  uint64_t published_ = 0;
  uint64_t asked_ = 0;
  uint64_t answered_ = 0;
};

}  // namespace tutti::observe
