// SPDX-License-Identifier: Apache-2.0
// Loop: one thread that runs timers and tasks. All of kube/ runs on it; other threads may only call Post.
#pragma once

#include <absl/functional/any_invocable.h>

#include <cstdint>

#include "base/clock.h"

namespace tutti::kube {

using Task = absl::AnyInvocable<void()>;
using TimerId = uint64_t;  // 0: none

class Loop {
 public:
  virtual ~Loop() = default;

  // Runs `task` on the loop's thread, after all tasks posted before. Any thread.
  virtual void Post(Task task) = 0;

  // -- The loop's thread only --

  virtual const base::Clock& clock() const = 0;
  // Runs `task` after the delay. Even for a delay of 0 it returns first.
  virtual TimerId After(base::Millis delay_ms, Task task) = 0;
  // Cancels the timer. Does nothing if it has run or `id` is 0.
  virtual void CancelTimer(TimerId id) = 0;

  base::Millis Now() const { return clock().MonotonicMs(); }
};

}  // namespace tutti::kube
