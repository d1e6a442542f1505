// SPDX-License-Identifier: Apache-2.0
// KueueCycle: the first gang of every line of a tree has its turn once. One thread.
//
// What one of them takes, or will have when its victims have left, counts for those that come after it in the cycle.
#pragma once

#include <string>
#include <vector>

#include "queue/policies/kueue/admission.h"
#include "queue/policies/kueue/bids.h"

namespace tutti::queue {

class KueueCycle {
 public:
  // All must outlive this. `leaves` are those of one tree. Adds to `result`.
  KueueCycle(KueueAdmission& admission, const std::vector<QueueId>& leaves, PassResult* result);

  // Returns true when another cycle can do more.
  bool Run();

 private:
  using Waiting = KueueAdmission::Waiting;

  std::vector<Turn> Nominate();

  void Consider(Turn* turn);
  void RefuseWithoutVictims(const Turn& turn);
  // There is quota for it, but no nodes, or will be none when its victims have left: it tries its next flavors, or
  // waits.
  void RefuseWithoutNodes(const Turn& turn, std::string why);
  // What the gang lacks, as far as it was looked at: of a search in several cycles, all that its queue has.
  std::vector<CellId> LackedBy(const Turn& turn) const;
  // Lets the search go on with the flavors that were not looked at in the next cycle; false: there are none. Once quota
  // or nodes are freer, it begins from the start.
  bool NextFlavors(const Turn& turn);
  // Passes over the flavors that had quota and no nodes from now on. Returns true if others are left.
  bool TriesOthers(const Turn& turn);
  void Refuse(const Turn& turn, WaitExplanation now, bool may_pass);
  bool MayEvict(const Turn& turn);
  void Preempt(Turn* turn, const std::string& why);
  void Charge(const Turn& turn, const CellAmounts& amounts);
  // Gives those that were admitted their quota.
  void Commit();
  void PlaceAndCommit(Turn* turn);
  void CommitOne(Turn* turn);

  KueueAdmission& in_;
  const std::vector<QueueId>& leaves_;
  PassResult* result_;
  Bids bids_;
  Turns* turns_ = nullptr;  // while they have their turns
  std::vector<Turn> admitted_;
  bool progress_ = false;
};

}  // namespace tutti::queue
