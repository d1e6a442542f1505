// SPDX-License-Identifier: Apache-2.0
#include "queue/waits.h"

#include <algorithm>
#include <utility>

#include "model/quantity.h"

namespace tutti::queue {

Waits::~Waits() {
  for (const auto& [gang, waiter] : waiters_)
    for (const QueueId leaf : waiter.leaves) tree_.Release(leaf);
}

int64_t Waits::Room(const Place& place, const Promised& promised) const {
  const int64_t room = ledger_.Headroom(place.queue, place.cell);
  const auto at = promised.find(place);
  return room == kNoLimit || at == promised.end() ? room : model::SaturatingSub(room, at->second);
}

Waits::Shortage Waits::Short(const Waiter& waiter, const Promised& promised) const {
  for (const QueueId leaf : waiter.leaves)
    for (QueueId queue = leaf; queue.valid(); queue = tree_.parent(queue))
      for (const auto& [cell, amount] : waiter.ask)
        if (amount > Room({queue, cell}, promised)) return {{queue, cell}, leaf};
  return {};
}

bool Waits::Put(model::GangId gang, Leaves leaves, const GangRank& rank, Ask ask) {
  for (const QueueId leaf : leaves) tree_.Hold(leaf);
  Erase(gang);
  Waiter waiter{std::move(leaves), rank, std::move(ask), {}};
  const Shortage at = Short(waiter, {});
  if (!at.place.queue.valid()) {
    for (const QueueId leaf : waiter.leaves) tree_.Release(leaf);
    return false;
  }
  for (const QueueId leaf : waiter.leaves) gangs_of_[leaf].insert(gang);
  StandAt(gang, waiters_.emplace(gang, std::move(waiter)).first->second, at);
  return true;
}

void Waits::Erase(model::GangId gang) {
  const auto at = waiters_.find(gang);
  if (at == waiters_.end()) return;
  LeavePlace(gang, at->second);
  const Leaves leaves = std::move(at->second.leaves);
  waiters_.erase(at);
  for (const QueueId leaf : leaves) {
    const auto others = gangs_of_.find(leaf);
    others->second.erase(gang);
    if (others->second.empty()) gangs_of_.erase(others);
    tree_.Release(leaf);
  }
}

void Waits::StandAt(model::GangId gang, Waiter& waiter, const Shortage& shortage) {
  const Place& place = waiter.place = shortage.place;
  const auto [at, first] = places_.try_emplace(place, tree_, ranks_, place.queue);
  if (first) cells_at_[place.queue].push_back(place.cell);
  at->second.Put(gang, shortage.leaf, waiter.rank, waiter.ask.Get(place.cell));
}

void Waits::LeavePlace(model::GangId gang, const Waiter& waiter) {
  const auto at = places_.find(waiter.place);
  at->second.Erase(gang);
  if (!at->second.empty()) return;
  places_.erase(at);
  const auto cells = cells_at_.find(waiter.place.queue);
  std::erase(cells->second, waiter.place.cell);
  if (cells->second.empty()) cells_at_.erase(cells);
}

void Waits::WakeAt(const Place& place, base::Millis now_ms, Promised* promised, std::vector<model::GangId>* woken) {
  for (;;) {
    const auto at = places_.find(place);
    if (at == places_.end()) return;
    const auto gang = at->second.First(Room(place, *promised), now_ms);
    if (!gang) return;
    ++looked_at_;
    Waiter& waiter = waiters_.at(*gang);
    if (const Shortage next = Short(waiter, *promised); next.place.queue.valid()) {
      LeavePlace(*gang, waiter);
      StandAt(*gang, waiter, next);
      continue;
    }
    for (const QueueId leaf : waiter.leaves)
      for (QueueId queue = leaf; queue.valid(); queue = tree_.parent(queue))
        for (const auto& [cell, amount] : waiter.ask) {
          int64_t& sum = (*promised)[{queue, cell}];
          sum = model::SaturatingAdd(sum, amount);
        }
    woken->push_back(*gang);
    Erase(*gang);
  }
}

std::vector<model::GangId> Waits::Wake(QueueId queue, std::span<const CellId> cells, base::Millis now_ms) {
  std::vector<model::GangId> woken;
  Promised promised;
  for (QueueId at = queue; at.valid(); at = tree_.parent(at))
    for (const CellId cell : cells) WakeAt({at, cell}, now_ms, &promised, &woken);
  return woken;
}

std::vector<model::GangId> Waits::WakeAnywhere(base::Millis now_ms) {
  std::vector<Place> places;
  for (const auto& [place, gangs] : places_) places.push_back(place);
  std::ranges::sort(places, {}, [](const Place& place) { return std::pair(place.queue, place.cell); });
  std::vector<model::GangId> woken;
  Promised promised;
  for (const Place& place : places) WakeAt(place, now_ms, &promised, &woken);
  return woken;
}

std::vector<model::GangId> Waits::TakeBelow(QueueId queue) {
  std::vector<model::GangId> taken;
  std::vector<QueueId> open{queue};
  while (!open.empty()) {
    const QueueId at = open.back();
    open.pop_back();
    if (const auto gangs = gangs_of_.find(at); gangs != gangs_of_.end())
      taken.insert(taken.end(), gangs->second.begin(), gangs->second.end());
    for (const QueueId child : tree_.Children(at)) open.push_back(child);
  }
  std::ranges::sort(taken);
  for (const model::GangId gang : taken) Erase(gang);
  return taken;
}

void Waits::Moved(QueueId queue) {
  for (QueueId above = tree_.parent(queue); above.valid(); above = tree_.parent(above))
    if (const auto cells = cells_at_.find(above); cells != cells_at_.end())
      for (const CellId cell : cells->second) places_.at({above, cell}).Moved(queue);
}

}  // namespace tutti::queue
