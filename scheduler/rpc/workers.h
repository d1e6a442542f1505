// SPDX-License-Identifier: Apache-2.0
// Workers: threads that make the answers, for that may wait for the API server or the scheduler, and the library's own
// threads must not. Thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace tutti::rpc {

class Workers {
 public:
  static constexpr int kThreads = 16;

  Workers();
  // REQUIRES: all work that was posted is done.
  ~Workers();

  // Has a thread do it, the oldest first. Who posts sees to it that not too much waits.
  void Post(std::function<void()> work);

 private:
  void Run();

  base::Mutex mutex_;
  base::Condition posted_;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace tutti::rpc
