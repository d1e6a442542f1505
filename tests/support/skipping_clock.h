// SPDX-License-Identifier: Apache-2.0
// The machine's clock, with which a test skips time instead of waiting. Thread-safe.
#pragma once

#include <atomic>

#include "base/clock.h"

namespace tutti::tests {

class SkippingClock final : public base::Clock {
 public:
  base::Millis WallMs() const override { return machine_.WallMs() + skipped_ms_; }
  base::Millis MonotonicMs() const override { return machine_.MonotonicMs() + skipped_ms_; }
  void Skip(base::Millis by_ms) { skipped_ms_ += by_ms; }

 private:
  const base::SystemClock machine_;
  std::atomic<base::Millis> skipped_ms_ = 0;
};

}  // namespace tutti::tests
