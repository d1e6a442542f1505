// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/holdings.h"

#include <utility>

#include "base/check.h"

namespace tutti::queue {

Holdings::Rank Holdings::RankOf(const Holding& holding) {
  return {!holding.evicted, holding.priority, -holding.reserved_ms, holding.uid, &holding};
}

void Holdings::Put(Holding holding) {
  const model::GangId gang = holding.gang;
  TUTTI_CHECK(!by_gang_.contains(gang), "a gang is charged once");
  Record& record = by_gang_[gang];
  record.charge = used_.Charge(holding.leaf, holding.used);
  record.holding = std::move(holding);
  by_uid_[record.holding.uid] = gang;
  lines_[record.holding.leaf].insert(RankOf(record.holding));
}

void Holdings::Release(model::GangId gang) {
  const auto at = by_gang_.find(gang);
  if (at == by_gang_.end()) return;
  const Holding& holding = at->second.holding;
  const auto line = lines_.find(holding.leaf);
  line->second.erase(RankOf(holding));
  if (line->second.empty()) lines_.erase(line);
  if (const auto uid = by_uid_.find(holding.uid); uid != by_uid_.end() && uid->second == gang) by_uid_.erase(uid);
  used_.Release(at->second.charge);
  by_gang_.erase(at);
}

void Holdings::MarkEvicted(model::GangId gang, bool for_another) {
  const auto at = by_gang_.find(gang);
  if (at == by_gang_.end() || at->second.holding.evicted) return;
  Line& line = lines_.at(at->second.holding.leaf);
  line.erase(RankOf(at->second.holding));
  at->second.holding.evicted = true;
  at->second.holding.for_another = for_another;
  line.insert(RankOf(at->second.holding));
}

void Holdings::SetPriority(model::GangId gang, int32_t priority) {
  Holding& holding = by_gang_.at(gang).holding;
  Line& line = lines_.at(holding.leaf);
  line.erase(RankOf(holding));
  holding.priority = priority;
  line.insert(RankOf(holding));
}

const Holding* Holdings::Find(model::GangId gang) const {
  const auto at = by_gang_.find(gang);
  return at == by_gang_.end() ? nullptr : &at->second.holding;
}

const Holding* Holdings::FindUid(const std::string& uid) const {
  const auto at = by_uid_.find(uid);
  return at == by_uid_.end() ? nullptr : Find(at->second);
}

const Holdings::Line& Holdings::Of(QueueId leaf) const {
  static const Line kNone;
  const auto at = lines_.find(leaf);
  return at == lines_.end() ? kNone : at->second;
}

}  // namespace tutti::queue
