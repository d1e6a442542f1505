// SPDX-License-Identifier: Apache-2.0
// ReadyLines: gangs that are ready to be considered, one line a queue, and which gang is next. One thread.
//
// Gangs of no queue stand in one line of their own. Among queues it is the turn of the one that queue::Order says; in
// the line of each, and between the gang whose queue's turn it is and the first of no queue, the given order counts.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <optional>
#include <utility>

#include "core/gangs/gang_book.h"
#include "core/gangs/line.h"
#include "queue/order.h"
#include "queue/tree.h"

namespace tutti::core {

// `Before` orders ids of gangs; it must not change for one that stands in a line.
template <typename Before>
class ReadyLines {
 public:
  // All must outlive this.
  ReadyLines(GangBook& book, queue::QueueTree& tree, queue::Order& order, Before before)
      : book_(book), tree_(tree), order_(order), before_(before), of_none_(before) {}

  bool empty() const { return of_none_.empty() && lines_.empty(); }
  // Tells whether more than one queue has ready gangs, so that it matters which queue's turn it is.
  bool AreQueuesRivals() const { return order_.size(Band::kFirst) > 1 || order_.size(Band::kSecond) > 1; }

  // Puts the gang into the line of its queue. REQUIRES: it is in no line.
  void Insert(model::GangId id) {
    Gang& gang = book_.at(id);
    const queue::QueueId queue = gang.spec.queue.empty() ? queue::QueueId() : tree_.Find(QueueOf(gang));
    gang.line.queue = queue;
    if (!queue.valid()) return of_none_.Insert(id);
    tree_.Hold(queue);
    const Band band = BandOf(gang);
    const auto [line, first] = lines_.try_emplace({queue, band}, before_);
    line->second.Insert(id);
    if (first) order_.Put(queue, band);
  }
  // Takes the gang out of its line. REQUIRES: it is in a line.
  void Erase(model::GangId id) {
    const Gang& gang = book_.at(id);
    if (!gang.line.queue.valid()) return of_none_.Erase(id);
    lines_.at({gang.line.queue, BandOf(gang)}).Erase(id);
    Leave(gang);
  }
  // Returns the gang that is next. REQUIRES: not empty.
  model::GangId First() {
    std::optional<model::GangId> first;
    if (!of_none_.empty()) first = of_none_.First();
    for (const Band band : {Band::kFirst, Band::kSecond})
      if (const auto queue = order_.First(band))
        if (const model::GangId next = lines_.at({*queue, band}).First(); !first || before_(next, *first)) first = next;
    return *first;
  }
  // Takes out the gang that is next. REQUIRES: not empty.
  model::GangId TakeFirst() {
    const model::GangId id = First();
    const Gang& gang = book_.at(id);
    if (!gang.line.queue.valid()) return of_none_.TakeFirst();
    lines_.at({gang.line.queue, BandOf(gang)}).TakeFirst();
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
  static Band BandOf(const Gang& gang) { return gang.line.sorted_besides ? Band::kSecond : Band::kFirst; }
  void Leave(const Gang& gang) {
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
  Before before_;
  Line<model::GangId, Before> of_none_;
  absl::flat_hash_map<std::pair<queue::QueueId, Band>, Line<model::GangId, Before>> lines_;  // none is empty
};

}  // namespace tutti::core
