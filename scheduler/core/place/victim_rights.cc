// SPDX-License-Identifier: Apache-2.0
#include "core/place/victim_rights.h"

#include <algorithm>
#include <numeric>

#include "core/place/victim_units.h"

namespace tutti::core {

std::vector<size_t> VictimRights::TakeOf(std::span<const VictimUnit> units) {
  std::vector<size_t> taken, open(units.size());
  std::iota(open.begin(), open.end(), size_t{0});
  std::ranges::sort(open, {}, [&](size_t u) { return RankOf(units[u]); });
  for (size_t before = open.size() + 1; open.size() < before && !open.empty();) {
    before = open.size();
    std::erase_if(open, [&](size_t u) {
      if (!MayTake(units[u])) return false;
      Take(units[u]);
      taken.push_back(u);
      return true;
    });
  }
  return taken;
}

bool VictimRights::Suffice(std::span<const VictimUnit> units) {
  const bool suffice = TakeOf(units).size() == units.size() && QueueTakesGang();
  GiveAllBack();
  return suffice;
}

}  // namespace tutti::core
