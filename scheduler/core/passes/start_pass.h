// SPDX-License-Identifier: Apache-2.0
// StartPass: starts a gang that is not whole: its queue admits it, its minimum finds nodes, and its plan begins; or it
// waits, for a reason.
#pragma once

#include <optional>
#include <string>

#include "core/admit/queue_admission.h"
#include "core/admit/room_sums.h"
#include "core/gangs/fit.h"
#include "core/gangs/strangers.h"
#include "core/passes/preempt_pass.h"
#include "core/passes/refusals.h"
#include "core/passes/undo_pass.h"
#include "core/passes/victim_seeker.h"
#include "core/place/certificates.h"
#include "core/place/planner.h"

namespace tutti::core {

class StartPass {
 public:
  StartPass(const cluster::ClusterState& state, GangBook& book, Agenda& agenda, Queues& queues,
            const QueueAdmission& admission, Planner& planner, Certificates& certificates, Committer& committer,
            VictimSeeker& seeker, ExtenderDesk& extender_desk, FigureRefresh& figures, Refusals& refusals,
            UndoPass& undo, PreemptPass& preempt, RoomSums& sums, const AutoFits& auto_fits,
            const Strangers& strangers, const Announcer& announcer, const base::Clock& clock)
      : state_(state),
        book_(book),
        agenda_(agenda),
        queues_(queues),
        admission_(admission),
        planner_(planner),
        certificates_(certificates),
        committer_(committer),
        seeker_(seeker),
        extender_desk_(extender_desk),
        figures_(figures),
        refusals_(refusals),
        undo_(undo),
        preempt_(preempt),
        sums_(sums),
        auto_fits_(auto_fits),
        strangers_(strangers),
        announcer_(announcer),
        clock_(clock) {}

  // REQUIRES: the gang is not whole.
  void Run(model::GangId id, Census& census);
  // Returns what keeps the gang from starting on the nodes that were found for it. May find others, which weigh less on
  // its queue. Nothing comes of it.
  std::optional<Refusal> RefusePlaced(const Gang& gang, const Census& census, const Requirement& requirement,
                                      PlanResult* result);

 private:
  // Admits a gang that has no pods yet without places, if there is what it needs of nodes.
  void AdmitUnplaced(model::GangId id);
  // Seeks a place for the missing members. Returns true if the gang is placed, or some answer has to come first.
  bool Place(model::GangId id, Census& census);
  // Places the gang and reserves the room; or returns why the gang cannot start now.
  std::optional<Refusal> TryStart(model::GangId id, const Census& census, const Requirement& requirement);
  // Explains why a gang finds no nodes where extenders had a say in that. A lone pod may have others evicted first.
  Refusal RefuseJudged(model::GangId id, const Census& census, const Requirement& requirement, PlanResult result);
  // Places the missing members as if the victims were gone, chosen now or earlier, and reserves the room. Returns false
  // if the gang does not start so either.
  bool StartWithVictims(model::GangId id, const Census& census, const Requirement& requirement,
                        const std::string& shape);
  // Tells whether the gang starts with the chosen victims gone. Finds the places that it then has, where they are not
  // known.
  bool StartsWithout(VictimSeeker::Choice* choice, const Gang& gang, const Census& census,
                     const Requirement& requirement);
  // Has the victims leave, and the gang reserve its places.
  void TakeRoom(model::GangId id, VictimSeeker::Choice choice);
  // Returns what keeps the gang from starting before any node is asked; nullopt: nothing does.
  std::optional<Refusal> RefuseUnplaced(model::GangId id, const Census& census, const Requirement& requirement);
  std::optional<Refusal> FitQueue(const Gang& gang, const Census& census, const Requirement& requirement,
                                  PlanResult* result);
  // Holds room for what a half-started gang lacks on nodes that refused a bind of it, until they are tried again, if no
  // other nodes do: else pods of others would take that room, and the gang could only be undone. Returns false if there
  // is none.
  bool HoldRefusingNodes(model::GangId id, const Census& census);
  // Returns what the gang needs to start: once a soft gang has waited long enough, one member.
  Requirement RequireToStart(model::GangId id, const Census& census);
  // Tells whether extenders are asked about the members, and some have not answered: nothing new is known until they
  // do.
  bool AwaitsExtenders(const Gang& gang, const Census& census, const Requirement& requirement);
  std::string ShapeOf(const Gang& gang, const Census& census, const Requirement& requirement) const;

  const cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Queues& queues_;
  const QueueAdmission& admission_;
  Planner& planner_;
  Certificates& certificates_;
  Committer& committer_;
  VictimSeeker& seeker_;
  ExtenderDesk& extender_desk_;
  FigureRefresh& figures_;
  Refusals& refusals_;
  UndoPass& undo_;
  PreemptPass& preempt_;
  RoomSums& sums_;
  const AutoFits& auto_fits_;
  const Strangers& strangers_;
  const Announcer& announcer_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
