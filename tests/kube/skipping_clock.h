// SPDX-License-Identifier: Apache-2.0
// The machine's clock, of which a test skips what it would have to wait for.
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

  // For a loop's own thread, or before it runs.
  void Skip(base::Millis by_ms) { skipped_ms_ += by_ms; }
  // For any other: returns when `loop` has run the timers that this made due.
  void Skip(base::Millis by_ms, EpollLoop& loop) {
    Skip(by_ms);
    for (int turn = 0; turn < 2; ++turn) {  // of the first one the timers may have run before
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
