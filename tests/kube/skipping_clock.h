// SPDX-License-Identifier: Apache-2.0
// Skips time for a loop that runs on another thread.
#pragma once

#include <future>

#include "kube/epoll_loop.h"
#include "tests/support/skipping_clock.h"

namespace tutti::kube {

using tests::SkippingClock;

// Returns when `loop`, whose clock it is, has run the timers that became due.
inline void Skip(base::Millis by_ms, SkippingClock& clock, EpollLoop& loop) {
  clock.Skip(by_ms);
  for (int turn = 0; turn < 2; ++turn) {  // in the first turn the timers may have run already
    std::promise<void> over;
    loop.Post([&over] { over.set_value(); });
    over.get_future().wait();
  }
}

}  // namespace tutti::kube
