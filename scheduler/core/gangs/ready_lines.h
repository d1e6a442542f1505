// SPDX-License-Identifier: Apache-2.0
// ReadyLines: gangs that are ready to be considered, one line a queue, and which gang is next. One thread.
//
// Gangs of no queue stand in one line of their own. Among queues it is the turn of the one that queue::Order says; in
// the line of each, and between the gang whose queue's turn it is and the first of no queue, the given order counts.
// Gangs whose priorities change with time have a part of the line for each slope (model::GangRank).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "core/gangs/gang_book.h"
#include "core/gangs/line.h"
#include "queue/order.h"
#include "queue/tree.h"

namespace tutti::core {

// `Before` orders ids of gangs as of its `now_ms` (wall time). Among those of one slope the order is always the same,
// and must not change for one that stands in a line.
template <typename Before>
class ReadyLines {
 public:
  // All must outlive this.
  ReadyLines(GangBook& book, queue::QueueTree& tree, queue::Order& order, Before before, const base::Clock& clock)
      : book_(book), tree_(tree), order_(order), clock_(clock), before_(before), of_none_(before) {}

  bool empty() const { return of_none_.empty() && lines_.empty(); }
  // Tells whether more than one queue has ready gangs, so that it matters which queue's turn it is.
  bool AreQueuesRivals() const { return order_.size(Band::kFirst) > 1 || order_.size(Band::kSecond) > 1; }

  // Puts the gang into the line of its queue. REQUIRES: it is in no line.
  void Insert(model::GangId id) {
    Gang& gang = book_.at(id);
    const queue::QueueId queue = gang.spec.queue.empty() ? queue::QueueId() : tree_.Find(QueueOf(gang));
    gang.line.queue = queue;
    rising_ += gang.line.slope != 0 ? 1 : 0;
    if (!queue.valid()) return PartOf(of_none_, gang).Insert(id);
    tree_.Hold(queue);
    const Band band = BandOf(gang);
    const auto [line, first] = lines_.try_emplace({queue, band}, before_);
    PartOf(line->second, gang).Insert(id);
    if (first) order_.Put(queue, band);
  }
  // Takes the gang out of its line. REQUIRES: it is in a line.
  void Erase(model::GangId id) {
    const Gang& gang = book_.at(id);
    PartOf(LineOf(gang), gang).Erase(id);
    Leave(gang);
  }
  // Returns the gang that is next. REQUIRES: not empty.
  model::GangId First() {
    Before before = before_;
    if (rising_ > 0) before.now_ms = clock_.WallMs();
    std::optional<model::GangId> first;
    if (!of_none_.empty()) first = FirstOf(of_none_, before);
    for (const Band band : {Band::kFirst, Band::kSecond})
      if (const auto queue = order_.First(band))
        if (const model::GangId next = FirstOf(lines_.at({*queue, band}), before); !first || before(next, *first))
          first = next;
    return *first;
  }
  // Takes out the gang that is next. REQUIRES: not empty.
  model::GangId TakeFirst() {
    const model::GangId id = First();
    const Gang& gang = book_.at(id);
    PartOf(LineOf(gang), gang).TakeFirst();
    Leave(gang);
    return id;
  }
  // Notes that some queue has another parent.
  void OnMoved() {
    for (const auto& [at, line] : lines_) order_.Erase(at.first, at.second);
    for (const auto& [at, line] : lines_) order_.Put(at.first, at.second);
  }

 private:
  using Band = queue::Order::Band;
  // The gangs of one line.
  struct Parts {
    explicit Parts(Before before) : level(before) {}
    bool empty() const { return level.empty() && rising.empty(); }

    Line<model::GangId, Before> level;                      // of slope 0
    std::map<int32_t, Line<model::GangId, Before>> rising;  // by slope; none is empty, but while one is put into it
  };

  static Band BandOf(const Gang& gang) { return gang.line.sorted_besides ? Band::kSecond : Band::kFirst; }
  Parts& LineOf(const Gang& gang) {
    return gang.line.queue.valid() ? lines_.at({gang.line.queue, BandOf(gang)}) : of_none_;
  }
  Line<model::GangId, Before>& PartOf(Parts& parts, const Gang& gang) {
    return gang.line.slope == 0 ? parts.level : parts.rising.try_emplace(gang.line.slope, before_).first->second;
  }
  // REQUIRES: the line is not empty.
  static model::GangId FirstOf(Parts& parts, const Before& before) {
    std::optional<model::GangId> first;
    if (!parts.level.empty()) first = parts.level.First();
    for (auto& [slope, part] : parts.rising)
      if (const model::GangId next = part.First(); !first || before(next, *first)) first = next;
    return *first;
  }
  void Leave(const Gang& gang) {
    if (gang.line.slope != 0) {
      --rising_;
      auto& rising = LineOf(gang).rising;
      if (const auto part = rising.find(gang.line.slope); part->second.empty()) rising.erase(part);
    }
    if (!gang.line.queue.valid()) return;
    const auto at = lines_.find({gang.line.queue, BandOf(gang)});
    if (at->second.empty()) {
      order_.Erase(gang.line.queue, BandOf(gang));
      lines_.erase(at);
    }
    tree_.Release(gang.line.queue);
  }

  GangBook& book_;
  queue::QueueTree& tree_;
  queue::Order& order_;
  const base::Clock& clock_;
  const Before before_;
  Parts of_none_;
  absl::flat_hash_map<std::pair<queue::QueueId, Band>, Parts> lines_;  // none is empty
  size_t rising_ = 0;                                                  // gangs with a slope, in all lines
};

}  // namespace tutti::core
