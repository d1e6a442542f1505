// SPDX-License-Identifier: Apache-2.0
// VictimRemoval: has the victims of a plan leave before any of its binds does.
//
// First each member says which node is kept for it. When that is seen, the victims are recorded, in one write on one
// pod of the gang (gangs/preemption.h). Then the evictions leave together, and when the last victim is gone the plan
// goes on.
// Invariants
//   (1) no eviction leaves before the members' nominations are seen and the record is acknowledged;
//   (2) a gang has one set of victims at a time. Another one is chosen only after the first is gone, or given up and
//       its record taken back: killed at any instant, the next leader goes on with the set that is recorded.
// A promise can say neither. If all members are promised there is no record, and the next leader chooses again.
#pragma once

#include <string>
#include <vector>

#include "base/planted.h"
#include "cluster/state.h"
#include "core/commit/evictor.h"
#include "core/commit/right_to_evict.h"
#include "core/gangs/agenda.h"
#include "core/gangs/census.h"
#include "core/options.h"
#include "core/outbox.h"

namespace tutti::core {

class VictimRemoval {
 public:
  VictimRemoval(const Options& options, cluster::ClusterState& state, GangBook& book, Agenda& agenda, Evictor& evictor,
                Outbox& outbox, const base::Clock& clock)
      : options_(options),
        state_(state),
        book_(book),
        agenda_(agenda),
        evictor_(evictor),
        outbox_(outbox),
        clock_(clock) {}

  // Tells whether the pod can be a victim of the gang: it is bound, leaves for no other gang, and did not fail to leave
  // before.
  bool MayGo(const Gang& gang, model::PodId pod) const;
  // Stores the victims of the gang's plan. REQUIRES: MayGo, the gang has no victims yet, and no bind of the plan has
  // left.
  void Choose(model::GangId id, std::vector<Victim> victims);
  // Tells whether no record of earlier victims is left, so that others may be chosen.
  static bool MayChoose(const Gang& gang, const Census& census) {
    return !gang.preemption && !gang.plan && !(gang.given_up && gang.given_up->carrier) &&
           (!census.recorder || base::Planted(base::Bug::kForgetVictims));
  }
  // Sends what is due. Returns true if all victims are gone.
  bool Step(model::GangId id);
  // Takes up what an earlier leader has recorded, and takes a record back that does not hold any more.
  void Recall(model::GangId id, const Census& census);
  // Tells whether some victims were not gone in time.
  bool IsLate(const Gang& gang) const;
  // Gives the victims up: those whose eviction has not left stay. The record is taken back.
  void GiveUp(model::GangId id);
  // Forgets what a member carries that is about to leave its gang.
  void OnLeave(model::GangId id, const Member& member);

  // Forgets all victims that were chosen: what is recorded counts. REQUIRES: the plans of gangs with victims were
  // aborted.
  void StartTerm();

 private:
  // Tells whether the pod is bound to a node that is there, and leaves for no gang.
  static bool Stays(const cluster::PodEntry& entry) {
    return entry.pod && entry.node && !entry.reserved && !entry.victim_of;
  }
  bool IsGone(const Victim& victim) const;
  // Drops the victims that are gone.
  void Prune(Preemption& preemption) const;
  base::Millis LateAt(const Preemption& preemption) const;
  // Records the victims. Returns true if they are recorded.
  bool Record(model::GangId id);
  bool NominationsAreSeen(const Gang& gang) const;
  // Counts a restart of each gang that loses all.
  void CountRestarts(const Preemption& preemption);
  std::string SayStuck(const std::vector<Victim>& stuck) const;
  void Forget(Gang& gang);
  // Takes the record of what was given up back. REQUIRES: GivenUpPreemption::carrier is valid.
  void TakeBack(model::GangId id);
  std::vector<Victim> Find(const Gang& gang, const PreemptionRecord& record) const;
  // Tells whether the gang could have chosen the pod itself. So a forged record evicts no others.
  bool MayHaveChosen(const RightToEvict& right, model::PodId victim, EvictionCause cause) const;
  cluster::CommandId Write(const Member& member, bool holds, const std::string& message);
  void OnReply(const GangBook::Written& written, const cluster::CommandReply& reply);

  const Options& options_;
  cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Evictor& evictor_;
  Outbox& outbox_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
