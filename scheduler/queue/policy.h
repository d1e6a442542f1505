// SPDX-License-Identifier: Apache-2.0
// Policy: by which rules the queues of a ledger share. Three questions; one ecosystem's rules are one implementation
// (queue/policies). One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/resource_list.h"
#include "queue/cells.h"
#include "queue/ids.h"

namespace tutti::queue {

// One cell that one queue of the path has too little of.
struct CellShortage {
  QueueId queue;
  CellId cell;
  int64_t limit = 0, used = 0, asked = 0;
};

struct AdmitAnswer {
  std::string problem;                  // the queue is closed, invalid, or its path ends nowhere; empty otherwise
  std::vector<CellShortage> shortages;  // leaf first, by cell
  bool admitted() const { return problem.empty() && shortages.empty(); }
};

class Policy {
 public:
  virtual ~Policy() = default;

  // Works out anew what follows from the tree, the nodes' `total` and what is asked for. All answers are as of the last
  // call. REQUIRES: called once after a change of the tree before anything is asked.
  virtual void Renew(const model::ResourceList& total) = 0;

  // Tells whether the queue may take `ask` now without taking from another.
  virtual AdmitAnswer Admit(QueueId queue, const Ask& ask) const = 0;

  // The queue's part of what it should have, 1 being all of it: of two siblings the smaller one is next.
  virtual double Share(QueueId queue) const = 0;

  // Tells whether `taker` may have `given`, which a gang of `giver` has, to make room for `ask`.
  virtual bool MayTakeFrom(QueueId taker, const Ask& ask, QueueId giver, const Ask& given) const = 0;
};

}  // namespace tutti::queue
