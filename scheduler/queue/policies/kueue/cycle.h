// SPDX-License-Identifier: Apache-2.0
// KueueCycle: the first gang of every line of a tree has its turn once. One thread.
//
// What one of them takes, or will have when its victims have left, counts for those that come after it in the cycle.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "queue/policies/kueue/admission.h"

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
  void Assign(Turn* turn, const Assignment* within);
  void AssignFewer(AssignQuestion question, Turn* turn);
  std::vector<Victim> FindVictims(Preemptor preemptor) const;
  std::vector<Victim> FindVictims(const Turn& turn, const Assignment& assignment) const;

  void Consider(Turn* turn);
  void RefuseWithoutVictims(const Turn& turn);
  void AssignAnew(Turn* turn);
  bool Overlaps(const Turn& turn) const;
  // Tells whether the gang fits when all victims of this cycle and its own have left.
  bool FitsAfterVictims(const Turn& turn) const;
  // There is quota for it, but no nodes, or will be none when its victims have left: it tries its next flavors, or
  // waits.
  void RefuseWithoutNodes(const Turn& turn, std::string why);
  // What the gang lacks, as far as it was looked at: of a search in several cycles, all that its queue has.
  std::vector<CellId> LackedBy(const Turn& turn) const;
  // Lets the search go on with the flavors that were not looked at in the next cycle; false: there are none. Once quota
  // or nodes are freer, it begins from the start.
  bool NextFlavors(const Turn& turn);
  void Refuse(const Turn& turn, WaitReason reason, std::string message, bool may_pass);
  // Keeps free what a gang without victims would have: where its queue cannot take it back, no other may have it.
  void Reserve(const Turn& turn);
  bool MayEvict(const Turn& turn);
  void Preempt(Turn* turn, const std::string& why);
  // Finds victims with which gone it has quota and nodes. False: there are none, or they leave for another gang.
  bool FindVictimsOnNodes(Turn* turn, std::vector<CellId> short_cells);
  void Charge(const Turn& turn, const CellAmounts& amounts);
  // Gives those that were admitted their quota.
  void Commit();
  void PlaceAndCommit(Turn* turn);
  // Assigns it fewer members, where it may start so and has nodes for them.
  bool FindNodesForFewer(Turn* turn);
  void CommitOne(Turn* turn);
  const Holding* Replaced(const Turn& turn) const;

  KueueAdmission& in_;
  const std::vector<QueueId>& leaves_;
  PassResult* result_;
  Assigner assigner_;
  Turns* turns_ = nullptr;  // while they have their turns
  std::vector<Turn> admitted_;
  std::map<model::GangId, const Holding*> leaving_;  // the victims of this cycle
  bool progress_ = false;
};

}  // namespace tutti::queue
