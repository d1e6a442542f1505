// SPDX-License-Identifier: Apache-2.0
// QueueTree: gives queues dense ids, and knows their parents. Several trees may exist. One thread.
//
// A name has an id while it is declared, named as a parent, or held by a charge or a waiting gang. So queues may come,
// go and move at any time. Invariants
//   (1) parents form a forest: queues whose parents form a circle have none, until one of them gets another parent;
//   (2) a problem of a queue concerns only that queue and those below it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/queue.h"
#include "queue/cells.h"
#include "queue/ids.h"

namespace tutti::queue {

class QueueTree {
 public:
  QueueTree() = default;
  QueueTree(const QueueTree&) = delete;
  QueueTree& operator=(const QueueTree&) = delete;

  // Declares a queue, or replaces its declaration.
  QueueId Put(model::QueueSpec spec);
  // Removes the declaration, if there is one.
  void Drop(const QueueKey& key);

  // Returns the id of `key`, made if it is new, and counts one more holder.
  QueueId Hold(const QueueKey& key);
  void Hold(QueueId queue) { ++At(queue).holders; }
  // Removes one holder. CHECKs that there is one.
  void Release(QueueId queue);

  // Returns the id of `key`; invalid when it has none.
  QueueId Find(const QueueKey& key) const;
  bool declared(QueueId queue) const { return At(queue).declared; }
  // Returns the spec; that of an undeclared queue has only its names.
  const model::QueueSpec& spec(QueueId queue) const { return At(queue).spec; }
  // Returns the parent; invalid for a root.
  QueueId parent(QueueId queue) const { return At(queue).circular ? QueueId() : At(queue).up; }
  // Tells whether it is `below`, or above that. None is above an invalid one.
  bool IsOnPath(QueueId queue, QueueId below) const;
  // Tells whether its parents lead back to it.
  bool in_circle(QueueId queue) const { return At(queue).circular; }
  std::vector<QueueId> Children(QueueId queue) const;  // by name
  std::vector<QueueId> Roots() const;                  // by dialect and name

  // Says why the queue cannot be used, because of itself or the nearest problem above it. Empty: it can.
  std::string Problem(QueueId queue) const;

  // Increases with every change of a declaration, an id or a parent.
  uint64_t version() const { return version_; }
  // Changes with every change of a parent.
  uint64_t links_version() const { return links_version_; }
  // Every id that is in use is below this.
  size_t end() const { return queues_.size(); }
  bool in_use(QueueId queue) const { return queue.index() < end() && At(queue).in_use; }

  // The cells, of which declarations hold those that they name.
  Cells& cells() { return cells_; }
  const Cells& cells() const { return cells_; }

 private:
  struct Queue {
    model::QueueSpec spec;
    Ask named;  // the cells of the spec
    QueueId up;
    std::vector<QueueId> down;
    uint64_t holders = 0;
    bool in_use = false, declared = false;
    bool circular = false;  // its parents lead back to it
  };
  const Queue& At(QueueId queue) const { return queues_[queue.index()]; }
  Queue& At(QueueId queue) { return queues_[queue.index()]; }

  QueueId Intern(const QueueKey& key);
  void Link(QueueId queue, const QueueKey& parent);
  void MarkCircle(QueueId queue, bool circular);
  // Frees the id if it is neither declared, a parent, nor held.
  void Sweep(QueueId queue);
  std::string OwnProblem(QueueId queue) const;

  Cells cells_;
  std::deque<Queue> queues_;
  std::map<QueueKey, QueueId> ids_;
  std::vector<QueueId> free_;
  uint64_t version_ = 1, links_version_ = 1;
};

// Says that no queue of this name is declared.
std::string NoSuchQueue(std::string_view name);

// Says what is wrong with the amounts and the weight of a queue, naming the field; empty when nothing is.
std::string ProblemOf(const model::QueueSpec& spec);

}  // namespace tutti::queue
