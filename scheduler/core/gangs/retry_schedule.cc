// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/retry_schedule.h"

#include <algorithm>

namespace tutti::core {

using base::Millis;
using model::GangId;

namespace {

constexpr Millis kEveryMs = 200, kEachEveryMs = 1'000;

}  // namespace

bool RetrySchedule::Take(GangId id, Millis made_ms, Millis now_ms) {
  Leave(id);
  by_age_.emplace(made_ms, id);
  made_ms_.emplace(id, made_ms);
  if (Next() != id || now_ms < *DueAt()) return false;
  Leave(id);
  taken_ = id;
  return true;
}

void RetrySchedule::OnCutOff(GangId id, Millis now_ms) {
  if (taken_ != id) return;
  taken_ = GangId();
  free_ms_ = now_ms + kEveryMs;
}

void RetrySchedule::Leave(GangId id) {
  const auto at = made_ms_.find(id);
  if (at == made_ms_.end()) return;
  by_age_.erase({at->second, id});
  made_ms_.erase(at);
}

std::optional<Millis> RetrySchedule::DueAt() const {
  if (by_age_.empty()) return std::nullopt;
  return std::max(free_ms_, by_age_.begin()->first + kEachEveryMs);
}

}  // namespace tutti::core
