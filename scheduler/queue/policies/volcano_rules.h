// SPDX-License-Identifier: Apache-2.0
// VolcanoRules: the part that Volcano's two share rules have in common: guarantees, real capabilities, and answers from
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
  // `used` has the gangs' charges; this class sets its limits. Both must outlive this.
  VolcanoRules(QueueTree& tree, Ledger& used) : tree_(tree), used_(used) {}

  void Renew(const model::ResourceList& total) final;
  AdmitAnswer Admit(QueueId queue, const Ask& ask) const final;
  double Share(QueueId queue) const final;
  int64_t Deserved(QueueId queue, CellId cell) const final { return At(queue, cell).deserved; }
  // Remarks that the cluster cannot keep the queue's guarantee.
  std::string Remark(QueueId queue) const final;

  // Returns the most that the queue may have while all guarantees of others stay free.
  int64_t RealCapability(QueueId queue, CellId cell) const { return At(queue, cell).real_capability; }

 protected:
  struct Due {
    int64_t guarantee = 0;
    int64_t real_capability = kNoLimit;
    int64_t deserved = 0;
    bool has_deserved = false;  // an amount is declared; it may be 0
  };
  // Computes what these queues and all below them deserve of `cell`, and sets the limits in `used_`.
  virtual void RenewDeserved(const std::vector<QueueId>& siblings, CellId cell, int64_t available) = 0;

  const Due& At(QueueId queue, CellId cell) const;
  Due& At(QueueId queue, CellId cell) { return due_[queue.index()][cell.index()]; }
  // What the queue's own declaration caps it by; kNoLimit if it does not.
  int64_t Cap(QueueId queue, CellId cell) const;
  const std::vector<QueueId>& ChildrenOf(QueueId queue) const { return children_[queue.index()]; }

  // Tells whether one of these queues may take from the other at all.
  bool MayDeal(QueueId taker, QueueId giver) const;
  // Tells whether `giver` without `given` still has its guarantees, and also each queue above it that is not above
  // `taker`.
  bool KeepsGuarantees(QueueId taker, QueueId giver, const Ask& given) const;

  QueueTree& tree_;
  Ledger& used_;

 private:
  void SumGuarantees(QueueId queue, CellId cell);
  void CutGuarantees(const std::vector<QueueId>& siblings, CellId cell, int64_t available);
  void RenewCapability(const std::vector<QueueId>& siblings, CellId cell, int64_t available);

  std::vector<CellId> shared_;                  // cells that the nodes have or a declaration names
  std::vector<std::vector<Due>> due_;           // by queue and cell
  std::vector<std::vector<QueueId>> children_;  // by queue
  std::vector<std::string> remarks_;            // by queue
  Ask total_;
};

}  // namespace tutti::queue
