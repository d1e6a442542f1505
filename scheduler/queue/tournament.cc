// SPDX-License-Identifier: Apache-2.0
#include "queue/tournament.h"

#include <algorithm>
#include <limits>

namespace tutti::queue {

int64_t Tournament::Stand::LeastNeed() const {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return std::min(gangs.empty() ? kMost : gangs.least_need(), queues.empty() ? kMost : queues.least_need());
}

Rank Tournament::RankOf(QueueId queue) const {
  const QueueRank rank = queue.index() < ranks_->size() ? (*ranks_)[queue.index()] : QueueRank();
  return {-int64_t{rank.priority}, rank.share, 0, queue.value};
}

void Tournament::Put(model::GangId gang, QueueId leaf, const GangRank& rank, int64_t need) {
  const auto [known, added] = leaf_of_.try_emplace(gang, leaf);
  if (!added && known->second != leaf) {
    Erase(gang);
    leaf_of_.emplace(gang, leaf);
  }
  const auto [stand, first] = stands_.try_emplace(leaf);
  if (first) stand->second.up = leaf == top_ ? QueueId() : tree_->parent(leaf);
  stand->second.gangs.Put(gang, rank, need);
  Climb(leaf);
}

void Tournament::Erase(model::GangId gang) {
  const auto at = leaf_of_.find(gang);
  if (at == leaf_of_.end()) return;
  const QueueId leaf = at->second;
  leaf_of_.erase(at);
  stands_.at(leaf).gangs.Erase(gang);
  Climb(leaf);
}

void Tournament::Climb(QueueId queue) {
  while (queue != top_ && queue.valid()) {
    const auto here = stands_.find(queue);
    const QueueId up = here->second.up;
    const bool gone = here->second.empty();
    const int64_t need = here->second.LeastNeed();
    if (gone) stands_.erase(here);
    const auto [above, first] = stands_.try_emplace(up);
    if (first) above->second.up = up == top_ || !up.valid() ? QueueId() : tree_->parent(up);
    if (gone)
      above->second.queues.Erase(queue.value);
    else
      above->second.queues.Put(RankOf(queue), need);
    queue = up;
  }
}

void Tournament::Moved(QueueId queue) {
  const auto here = stands_.find(queue);
  if (queue == top_ || here == stands_.end()) return;
  const auto above = stands_.find(here->second.up);
  if (above != stands_.end()) above->second.queues.Put(RankOf(queue), here->second.LeastNeed());
}

std::optional<model::GangId> Tournament::First(int64_t budget, base::Millis now_ms) const {
  for (QueueId at = top_;;) {
    const auto stand = stands_.find(at);
    if (stand == stands_.end()) return std::nullopt;
    if (const auto gang = stand->second.gangs.First(budget, now_ms)) return gang;
    const auto queue = stand->second.queues.First(budget);
    if (!queue) return std::nullopt;
    at = QueueId(*queue);
  }
}

}  // namespace tutti::queue
