// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/partial.h"

#include <algorithm>

namespace tutti::queue {
namespace {

__extension__ using Wide = __int128;

int64_t MostTakenAway(const model::RoleAsk& role) {
  return std::max<int64_t>(0, role.count - role.min_count.value_or(role.count));
}

}  // namespace

bool MayShrink(const model::GangAsk& ask) {
  return std::ranges::any_of(ask.roles, [](const model::RoleAsk& role) { return MostTakenAway(role) > 0; });
}

std::optional<std::vector<int64_t>> LargestCounts(const model::GangAsk& ask,
                                                  const std::function<bool(const std::vector<int64_t>&)>& fits) {
  int64_t all = 0;
  for (const model::RoleAsk& role : ask.roles) all += MostTakenAway(role);
  if (all == 0) return std::nullopt;
  std::optional<std::vector<int64_t>> best;
  int64_t from = 0, to = all + 1;
  while (from < to) {
    const int64_t taken = from + (to - from) / 2;
    std::vector<int64_t> counts;
    for (const model::RoleAsk& role : ask.roles)
      counts.push_back(role.count - static_cast<int64_t>(Wide{MostTakenAway(role)} * taken / all));
    if (fits(counts)) {
      best = std::move(counts);
      to = taken;
    } else {
      from = taken + 1;
    }
  }
  return best;
}

}  // namespace tutti::queue
