// SPDX-License-Identifier: Apache-2.0
#include "queue/rising_fit.h"

#include <algorithm>
#include <limits>

#include "model/quantity.h"

namespace tutti::queue {

using base::Millis;
using model::GangId;

void RisingFit::Put(GangId gang, const model::GangRank& rank, int64_t need) {
  if (rank.slope != 0 || !rising_.empty()) Erase(gang);  // its slope may have been another
  FirstFit& part = rank.slope == 0 ? level_ : rising_[rank.slope];
  part.Put({-rank.PriorityAt(0), 0, rank.created_ms, gang.value}, need);
}

void RisingFit::Erase(GangId gang) {
  level_.Erase(gang.value);
  for (auto& [slope, part] : rising_) part.Erase(gang.value);
  std::erase_if(rising_, [](const auto& entry) { return entry.second.empty(); });
}

std::optional<GangId> RisingFit::First(int64_t budget, Millis now_ms) const {
  bool any = false;
  Rank first;
  const auto consider = [&](const FirstFit& part, int32_t slope) {
    const auto id = part.First(budget);
    if (!id) return;
    Rank rank = part.rank(*id);
    rank.band = model::SaturatingSub(rank.band, model::SaturatingMul(slope, now_ms));
    if (!any || rank < first) first = rank;
    any = true;
  };
  consider(level_, 0);
  for (const auto& [slope, part] : rising_) consider(part, slope);
  return any ? std::optional(GangId(first.id)) : std::nullopt;
}

int64_t RisingFit::least_need() const {
  int64_t least = level_.empty() ? std::numeric_limits<int64_t>::max() : level_.least_need();
  for (const auto& [slope, part] : rising_) least = std::min(least, part.least_need());
  return least;
}

}  // namespace tutti::queue
