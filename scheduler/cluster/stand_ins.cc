// SPDX-License-Identifier: Apache-2.0
#include "cluster/stand_ins.h"

#include <algorithm>

#include "base/check.h"

namespace tutti::cluster {

void StandIns::Unmark(model::NodeId node, model::GangId of) {
  const auto at = at_.find({node, of});
  TUTTI_CHECK(at != at_.end(), "a victim is marked before");
  if (--at->second.victims == 0) at_.erase(at);  // without victims nothing is counted twice
}

void StandIns::Count(model::NodeId node, model::GangId of, const PodClass& pod_class, Side side, int by) {
  const auto at = at_.find({node, of});
  if (at == at_.end()) return;
  const auto count = [&](model::ResourceId column, int64_t amount) {
    std::vector<Sum>& sums = at->second.sums;
    auto sum = std::ranges::find(sums, column, &Sum::column);
    if (sum == sums.end()) sum = sums.insert(sum, {column});
    const Columns::Wide before = std::min(sum->victims, sum->reservations);
    (side == Side::kVictim ? sum->victims : sum->reservations) += Columns::Wide{amount} * by;
    snapshot_.Adjust(column, node, before - std::min(sum->victims, sum->reservations));
  };
  for (const auto& [column, amount] : pod_class.requests) count(column, amount);
  count(kPodsColumn, 1);
}

}  // namespace tutti::cluster
