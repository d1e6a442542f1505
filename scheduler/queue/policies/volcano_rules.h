// SPDX-License-Identifier: Apache-2.0
// What Volcano's two share rules have in common: guarantees, real capabilities, and the questions that follow from
// what each queue deserves.
#pragma once

#include <string>
#include <vector>

#include "queue/ledger.h"
#include "queue/policy.h"
#include "queue/tree.h"

namespace tutti::queue {

class VolcanoRules : public Policy {
 public:
  // `used` is what gangs have; its limits are written here. Both must outlive this.
  VolcanoRules(QueueTree& tree, Ledger& used) : tree_(tree), used_(used) {}

  void Renew(const model::ResourceList& total) final;
  AdmitAnswer Admit(QueueId queue, const Ask& ask) const final;
  double Share(QueueId queue) const final;

  // 0 where the queue deserves none of the cell.
  int64_t Deserved(QueueId queue, CellId cell) const { return At(queue, cell).deserved; }
  int64_t Guarantee(QueueId queue, CellId cell) const { return At(queue, cell).guarantee; }
  // The most that the queue may have while all guarantees of others are kept free.
  int64_t RealCapability(QueueId queue, CellId cell) const { return At(queue, cell).capability; }

  // What is odd about the queue though its gangs may start: a guarantee that the cluster cannot keep. Or empty.
  std::string Remark(QueueId queue) const;

 protected:
  struct Due {
    int64_t guarantee = 0;
    int64_t capability = kNoLimit;
    int64_t deserved = 0;
    bool has_deserved = false;  // an amount is given; it may be 0
  };
  // Fills in what these and all below them deserve of `cell`, and sets the limits in `used_`.
  virtual void RenewDeserved(const std::vector<QueueId>& siblings, CellId cell, int64_t available) = 0;

  const Due& At(QueueId queue, CellId cell) const;
  Due& At(QueueId queue, CellId cell) { return due_[queue.index()][cell.index()]; }
  const std::vector<QueueId>& ChildrenOf(QueueId queue) const { return children_[queue.index()]; }

  // Tells whether these queues may have dealings at all.
  bool MayDeal(QueueId taker, QueueId giver) const;
  // Tells whether `giver` without `given` keeps its guarantees, and so do those above it that are not above `taker`.
  bool KeepsGuarantees(QueueId taker, QueueId giver, const Ask& given) const;
  bool IsOnPath(QueueId queue, QueueId leaf) const;

  QueueTree& tree_;
  Ledger& used_;

 private:
  void SumGuarantees(QueueId queue, CellId cell);
  void CutGuarantees(const std::vector<QueueId>& siblings, CellId cell, int64_t available);
  void RenewCapability(const std::vector<QueueId>& siblings, CellId cell, int64_t available);

  std::vector<CellId> shared_;                  // those that the nodes have or a declaration names
  std::vector<std::vector<Due>> due_;           // by queue and cell
  std::vector<std::vector<QueueId>> children_;  // by queue
  std::vector<std::string> remarks_;            // by queue
  Ask total_;
};

}  // namespace tutti::queue
