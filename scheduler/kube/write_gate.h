// SPDX-License-Identifier: Apache-2.0
// WriteGate: limits the writes under way, and says which waiting write may be sent. The loop's thread only.
//
// Invariants
//   (1) at most `places` writes are under way;
//   (2) no write is sent at or after `until_ms` of SetWritable;
//   (3) during a start, and shortly after it, at most four background writes are under way, and each has waited for
//       a second.
#pragma once

#include <optional>

#include "kube/lanes.h"
#include "kube/loop.h"

namespace tutti::kube {

class WriteGate {
 public:
  // How long the background is held back after a start's answer. The bind that makes a gang whole is decided only when
  // all others are answered, and would then wait behind 64 Events (40 ms).
  static constexpr base::Millis kHeldAfterStartsMs = 20;

  // `opens` runs when a waiting write may be sent without another answer. `loop` must outlive the gate.
  WriteGate(Loop& loop, size_t places, Task opens);
  ~WriteGate();

  // Allows sending writes until `until_ms`; they may take effect until `over_ms` (monotonic). Initially no write may be
  // sent.
  void SetWritable(base::Millis until_ms, base::Millis over_ms);
  base::Millis writable_until_ms() const { return writable_until_ms_; }
  base::Millis over_ms() const { return over_ms_; }

  void Push(cluster::Lane lane, uint64_t job) { lanes_.Push(lane, job, loop_.Now()); }
  // Takes out the next write to send. Nothing if none waits, no place is free, or all are held back.
  std::optional<uint64_t> Next();

  // Take a place for a write, and give it back.
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
  size_t in_flight_ = 0, background_in_flight_ = 0;  // all writes; background writes among them
  base::Millis held_until_ms_ = 0;                   // end of holding back the background, if no start is under way
  TimerId timer_ = 0;
  base::Millis opens_at_ms_ = 0;  // of that timer
  base::Millis writable_until_ms_ = 0, over_ms_ = 0;
};

}  // namespace tutti::kube
