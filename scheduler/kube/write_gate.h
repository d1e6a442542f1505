// SPDX-License-Identifier: Apache-2.0
// WriteGate: how many writes are under way, and which of those that wait may leave. The loop's thread only.
//
// Invariants
//   (1) at most `places` writes are under way;
//   (2) nothing leaves at or after the instant that SetWritable names;
//   (3) while a start is under way, and shortly after it, of the background only four writes are, and each has waited
//       for a second.
#pragma once

#include <optional>

#include "kube/lanes.h"
#include "kube/loop.h"

namespace tutti::kube {

class WriteGate {
 public:
  // After a start's answer the background is still held back for so long: the bind that makes a gang whole is decided
  // only when all others are answered, and would find 64 Events before it (40 ms).
  static constexpr base::Millis kHeldAfterStartsMs = 20;

  // `opens` runs when something that waits may leave though nothing was answered. `loop` must outlive the gate.
  WriteGate(Loop& loop, size_t places, Task opens);
  ~WriteGate();

  // Writes may leave until `until_ms`, and take effect until `over_ms` (monotonic). At the start: never.
  void SetWritable(base::Millis until_ms, base::Millis over_ms);
  base::Millis writable_until_ms() const { return writable_until_ms_; }
  base::Millis over_ms() const { return over_ms_; }

  void Push(cluster::Lane lane, uint64_t job) { lanes_.Push(lane, job, loop_.Now()); }
  // The next to leave; nothing while there is none, no place for it, or it is held back.
  std::optional<uint64_t> Next();

  // A write takes its place, and gives it back.
  void Enter(cluster::Lane lane);
  void Leave(cluster::Lane lane);
  size_t in_flight() const { return in_flight_; }

 private:
  void OpenAt(base::Millis at_ms);

  // Constant after construction.
  Loop& loop_;
  const size_t places_;
  Task opens_;

  Lanes lanes_;
  size_t in_flight_ = 0, background_in_flight_ = 0;  // writes; those of the background among them
  base::Millis held_until_ms_ = 0;                   // the background, if no start is on its way
  TimerId timer_ = 0;
  base::Millis opens_at_ms_ = 0;  // of that timer
  base::Millis writable_until_ms_ = 0, over_ms_ = 0;
};

}  // namespace tutti::kube
