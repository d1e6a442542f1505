// SPDX-License-Identifier: Apache-2.0
// Policy: a rule by which the queues of a ledger share. Volcano has two (queue/policies/volcano_*). Kueue's queues have
// none: KueueAdmission decides for them. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/resource_list.h"
#include "queue/cells.h"
#include "queue/ids.h"

namespace tutti::queue {

// A cell of which a queue of the path has too little.
struct CellShortage {
  QueueId queue;
  CellId cell;
  int64_t limit = 0, used = 0, asked = 0;
};

struct AdmitAnswer {
  std::string problem;  // why the queue cannot be used: closed, invalid, or an ancestor is missing; empty otherwise
  std::vector<CellShortage> shortages;  // leaf first, by cell
  bool admitted() const { return problem.empty() && shortages.empty(); }
};

class Policy {
 public:
  virtual ~Policy() = default;

  // Tell whether limits, and what queues deserve, follow what gangs ask for, and not only the declarations and the
  // nodes.
  virtual bool LimitsFollowDemand() const = 0;
  virtual bool DeservedFollowsDemand() const = 0;

  // Works out again what follows from the tree, the nodes' `total` and what is asked for: limits, and what queues
  // deserve. These are as of the last call. What queues use is as of now. REQUIRES: called once after a change of the
  // tree before anything is asked. Time is no input: see Queues::Renew for what is.
  virtual void Renew(const model::ResourceList& total) = 0;

  // Whether the queue may take `ask` now without taking from another.
  virtual AdmitAnswer Admit(QueueId queue, const Ask& ask) const = 0;

  // Returns how much of its due the queue has; 1 is all of it. Of two siblings the one with the smaller share is next.
  virtual double Share(QueueId queue) const = 0;

  // Returns what the queue deserves of the cell, perhaps 0.
  virtual int64_t Deserved(QueueId queue, CellId cell) const = 0;
  // Returns a remark about a queue whose gangs may start, such as that the cluster cannot keep its guarantee. Empty:
  // none.
  virtual std::string Remark(QueueId queue) const = 0;

  // Whether `taker` may take something from some queue to make room for `ask`. False: from none.
  virtual bool MayTake(QueueId taker, const Ask& ask) const = 0;
  // Whether `taker` may take `given` from a gang of `giver`, to make room for `ask`.
  virtual bool MayTakeFrom(QueueId taker, const Ask& ask, QueueId giver, const Ask& given) const = 0;
};

}  // namespace tutti::queue
