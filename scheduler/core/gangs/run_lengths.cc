// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/run_lengths.h"

#include <algorithm>

namespace tutti::core {

void RunLengths::Note(const Shape& shape, const model::GangKey& gang, base::Millis took_ms) {
  const auto [at, is_new] = runs_.try_emplace(shape);
  Runs& runs = at->second;
  if (is_new) runs.place = by_use_.insert(by_use_.end(), shape);
  by_use_.splice(by_use_.end(), by_use_, runs.place);
  if (const auto same = std::ranges::find(runs.last, gang, &Run::gang); same != runs.last.end()) {
    same->took_ms = std::max(same->took_ms, took_ms);
    return;
  }
  if (runs.last.size() == kMostRuns) runs.last.erase(runs.last.begin());
  runs.last.push_back({gang, took_ms});
  if (runs_.size() <= kMostShapes) return;
  runs_.erase(by_use_.front());
  by_use_.pop_front();
}

std::optional<RunLengths::Guess> RunLengths::Of(const Shape& shape) const {
  const auto at = runs_.find(shape);
  if (at == runs_.end()) return std::nullopt;
  std::vector<base::Millis> took;
  for (const Run& run : at->second.last) took.push_back(run.took_ms);
  std::ranges::sort(took);
  return Guess{std::ssize(took), took[took.size() / 2], took.back()};
}

}  // namespace tutti::core
