// SPDX-License-Identifier: Apache-2.0
#include "kube/write_gate.h"

#include <algorithm>

#include "kube/write_verdict.h"

namespace tutti::kube {
namespace {

// During starts, so many background writes may be under way, and each must have waited for so long. So they do not slow
// binds.
constexpr size_t kBesideStarts = 4;
constexpr base::Millis kBesideAfterMs = 1'000, kSinceNever = -1;

}  // namespace

WriteGate::WriteGate(Loop& loop, size_t places, Task opens) : loop_(loop), places_(places), opens_(std::move(opens)) {}

WriteGate::~WriteGate() { loop_.CancelTimer(timer_); }

void WriteGate::SetWritable(base::Millis until_ms, base::Millis over_ms) {
  writable_until_ms_ = std::min(until_ms, over_ms - kWriteGraceMs);
  over_ms_ = over_ms;
}

std::optional<uint64_t> WriteGate::Next() {
  if (in_flight_ >= places_ || lanes_.size() == 0) return std::nullopt;
  const base::Millis now = loop_.Now();
  if (now >= writable_until_ms_) return std::nullopt;
  const bool starting = in_flight_ > background_in_flight_;
  const bool held = starting || now < held_until_ms_;
  const bool beside = background_in_flight_ < kBesideStarts;
  const auto job = lanes_.Pop(now, !held ? now : beside ? now - kBesideAfterMs : kSinceNever);
  if (job) return job;
  // Only background writes wait here.
  if (beside) OpenAt(*lanes_.BackgroundSince() + kBesideAfterMs);
  if (!starting) OpenAt(held_until_ms_);
  return std::nullopt;
}

// Sets the timer so that `opens_` runs at `at_ms` at the latest.
void WriteGate::OpenAt(base::Millis at_ms) {
  if (timer_ != 0 && opens_at_ms_ <= at_ms) return;
  loop_.CancelTimer(timer_);
  opens_at_ms_ = at_ms;
  timer_ = loop_.After(at_ms - loop_.Now(), [this] {
    timer_ = 0;
    opens_();
  });
}

void WriteGate::Enter(cluster::Lane lane) {
  ++in_flight_;
  if (InBackground(lane)) ++background_in_flight_;
}

void WriteGate::Leave(cluster::Lane lane) {
  --in_flight_;
  if (InBackground(lane))
    --background_in_flight_;
  else
    held_until_ms_ = loop_.Now() + kHeldAfterStartsMs;
}

}  // namespace tutti::kube
