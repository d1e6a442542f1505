// SPDX-License-Identifier: Apache-2.0
// SIGTERM and SIGINT as a call on a thread of its own; a second one ends the process at once.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace tutti::app {

// Blocks both signals for this thread and those it starts later, and ignores SIGPIPE. For verbs that end by them: the
// others end as any program does.
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
