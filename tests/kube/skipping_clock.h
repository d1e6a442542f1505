// SPDX-License-Identifier: Apache-2.0
// The machine's clock, with which a test skips time instead of waiting.
#pragma once

#include <atomic>
#include <future>

#include "base/clock.h"
#include "kube/epoll_loop.h"

namespace tutti::kube {

// Thread-safe.
class SkippingClock final : public base::Clock {
 public:
  base::Millis WallMs() const override { return machine_.WallMs() + skipped_ms_; }
  base::Millis MonotonicMs() const override { return machine_.MonotonicMs() + skipped_ms_; }

  // Skips time, on a loop's own thread or before the loop runs.
  void Skip(base::Millis by_ms) { skipped_ms_ += by_ms; }
  // Skips time, on any other thread. Returns when `loop` has run the timers that became due.
  void Skip(base::Millis by_ms, EpollLoop& loop) {
    Skip(by_ms);
    for (int turn = 0; turn < 2; ++turn) {  // in the first turn the timers may have run already
      std::promise<void> over;
      loop.Post([&over] { over.set_value(); });
      over.get_future().wait();
    }
  }

 private:
  const base::SystemClock machine_;
  std::atomic<base::Millis> skipped_ms_ = 0;
};

}  // namespace tutti::kube
