// SPDX-License-Identifier: Apache-2.0
// Time is an input: the core's driver passes a Clock, real or virtual. The core asks the machine only to tell the
// metrics how long it took.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tutti::base {

using Millis = int64_t;  // milliseconds; a point in time counts from the Unix epoch or, if monotonic, from any origin

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Millis WallMs() const = 0;       // since the Unix epoch; may step
  virtual Millis MonotonicMs() const = 0;  // never goes back; deadlines are made of this
};

// The machine's clocks. Thread-safe.
class SystemClock final : public Clock {
 public:
  Millis WallMs() const override;
  Millis MonotonicMs() const override;
};

// A clock that stands still until told. One thread.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(Millis start_wall_ms) : now_ms_(start_wall_ms) {}
  Millis WallMs() const override { return now_ms_ + wall_offset_ms_; }
  Millis MonotonicMs() const override { return now_ms_; }
  void AdvanceTo(Millis monotonic_ms);
  void Advance(Millis by_ms) { AdvanceTo(now_ms_ + by_ms); }
  void StepWall(Millis by_ms) { wall_offset_ms_ += by_ms; }

 private:
  Millis now_ms_;
  Millis wall_offset_ms_ = 0;
};

// RFC 3339 in UTC, as Kubernetes writes it: "2006-01-02T15:04:05Z", and with microseconds for MicroTime.
std::string FormatTime(Millis wall_ms);
std::string FormatMicroTime(Millis wall_ms);
// Accepts fractional seconds and numeric zones. Error: kInvalid.
Result<Millis> ParseTime(std::string_view text);

}  // namespace tutti::base
