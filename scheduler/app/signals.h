// SPDX-License-Identifier: Apache-2.0
// Turns the first SIGTERM or SIGINT into a call on a thread of its own. A second signal ends the process at once.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace tutti::app {

// Blocks both signals for this thread and the threads that it starts later, and ignores SIGPIPE. Only verbs that end by
// a signal call it.
void BlockStopSignals();

class StopSignals {
 public:
  // REQUIRES: BlockStopSignals() was called before any thread was started.
  explicit StopSignals(std::function<void()> on_first);
  ~StopSignals();

 private:
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace tutti::app
