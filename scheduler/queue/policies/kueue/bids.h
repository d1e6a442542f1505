// SPDX-License-Identifier: Apache-2.0
// Bids: what a gang would be given in its turn, and which gangs would leave for it. What those before it in the cycle
// take is in the ledger; their victims are as gone. It changes nothing. One thread.
#pragma once

#include <map>
#include <vector>

#include "queue/policies/kueue/admission.h"

namespace tutti::queue {

inline constexpr const char* kNoLongerFits = "Workload no longer fits after processing another workload";

class Bids {
 public:
  // Both must outlive this.
  Bids(KueueAdmission& admission, const NodeRules& nodes);

  // Assigns flavors to the gang, from where its search stands, and finds victims for that. If there is not enough,
  // it gets fewer members, where it may start so. `within`: no other flavors than these, from the start; null: all.
  void Assign(Turn* turn, const Assignment* within) const;
  // What becomes of a gang in its turn, before nodes are asked.
  enum class Outcome {
    kNoQuota,
    kNoVictims,     // some would have to leave, and there are none that may
    kWillFit,       // once the victims of another gang have left
    kOverlaps,      // its victims leave for another gang
    kNoLongerFits,  // another gang takes what it would have
    kHasQuota,      // now, or once its victims have left
  };
  // Tells that. If its victims leave for another gang, flavors are assigned again before, with the victims of the cycle
  // gone, and no other flavors.
  Outcome Judge(Turn* turn) const;
  // Returns why a gang of this assignment waits. REQUIRES: the outcome is not kHasQuota.
  static WaitExplanation WhyOf(Outcome outcome, const Assignment& assignment);
  // Returns what a gang without victims would have: where its queue cannot take it back, no other may have it.
  CellAmounts Reserved(const Turn& turn) const;
  // Returns the gang that this one is a larger form of; null: there is none.
  const Holding* Replaced(const Turn& turn) const;

  // Finds victims with which gone it has quota and nodes. False: there are none, or they leave for another gang.
  bool FindVictimsOnNodes(Turn* turn, std::vector<CellId> short_cells) const;
  // Assigns it fewer members, where it may start so and has nodes for them.
  bool FindNodesForFewer(Turn* turn) const;

  // Says that the gang is a victim of this cycle.
  void AddLeaving(const Holding& holding) { leaving_.emplace(holding.gang, &holding); }
  // The victims of this cycle.
  const std::map<model::GangId, const Holding*>& leaving() const { return leaving_; }

 private:
  void AssignAnew(Turn* turn) const;
  // Tells whether some of the victims leave for another gang, too.
  bool Overlaps(const std::vector<Victim>& victims) const;
  // Tells whether the gang fits when all victims of this cycle and its own have left.
  bool FitsAfterVictims(const Turn& turn) const;
  void AssignFewer(AssignQuestion question, Turn* turn) const;
  std::vector<Victim> FindVictims(Preemptor preemptor) const;
  std::vector<Victim> FindVictims(const Turn& turn, const Assignment& assignment) const;

  KueueAdmission& in_;
  const NodeRules& nodes_;
  Assigner assigner_;
  std::map<model::GangId, const Holding*> leaving_;
};

}  // namespace tutti::queue
