// SPDX-License-Identifier: Apache-2.0
#include "core/publish/queue_counts.h"

namespace tutti::core {

using dialects::GangState;

int64_t QueueCounts::Counts::* QueueCounts::Field(const Gang& gang) {
  const bool waits = gang.state < GangState::kAdmitted || (gang.state == GangState::kBinding && gang.whole);
  if (waits && gang.counted.tally.running > 0) return &Counts::incomplete;
  if (gang.state == GangState::kWhole || gang.state == GangState::kTerminating) return &Counts::running;
  if (gang.state == GangState::kFinished) return &Counts::finished;
  if (gang.state == GangState::kWaitingForQueue || gang.state == GangState::kInvalid) return &Counts::pending;
  return &Counts::starting;
}

void QueueCounts::Count(Gang& gang) {
  ++counted_;
  const auto field = Field(gang);
  if (gang.counted.queue == QueueOf(gang) && gang.counted.field == field) return;
  Forget(gang);
  gang.counted.queue = QueueOf(gang);
  gang.counted.field = field;
  Add(gang, 1);
}

void QueueCounts::Forget(Gang& gang) {
  Add(gang, -1);
  gang.counted.queue = {};
}

QueueCounts::Counts QueueCounts::Of(const queue::QueueKey& key) const {
  const auto at = of_.find(key);
  return at == of_.end() ? Counts() : at->second;
}

void QueueCounts::Add(const Gang& gang, int64_t by) {
  if (gang.counted.queue.name.empty()) return;
  const auto at = of_.try_emplace(gang.counted.queue).first;
  at->second.*gang.counted.field += by;
  if (at->second == Counts()) of_.erase(at);
}

}  // namespace tutti::core
