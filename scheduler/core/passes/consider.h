// SPDX-License-Identifier: Apache-2.0
// Consideration: looks at one gang, finds out where it stands, and hands it to the pass that is its next: start, grow
// or undo.
#pragma once

#include "core/gangs/fit.h"
#include "core/passes/enrollment.h"
#include "core/passes/grow_pass.h"
#include "core/passes/promises.h"
#include "core/passes/quota_gate.h"
#include "core/passes/start_pass.h"
#include "core/passes/undo_pass.h"

namespace tutti::core {

class Consideration {
 public:
  Consideration(const cluster::ClusterState& state, GangBook& book, Agenda& agenda, const QueueAdmission& admission,
                Certificates& certificates, Committer& committer, FigureRefresh& figures, Refusals& refusals,
                Enrollment& enrollment, QuotaGate& quota, Promises& promises, RoomSums& sums, AutoFits& auto_fits,
                StartPass& start, GrowPass& grow, UndoPass& undo, const base::Clock& clock)
      : state_(state),
        book_(book),
        agenda_(agenda),
        admission_(admission),
        certificates_(certificates),
        committer_(committer),
        figures_(figures),
        refusals_(refusals),
        enrollment_(enrollment),
        quota_(quota),
        promises_(promises),
        sums_(sums),
        auto_fits_(auto_fits),
        start_(start),
        grow_(grow),
        undo_(undo),
        clock_(clock) {}

  // Keeps the gang's refusal without a search, for as long as its certificate holds. Returns true if it does: the gang
  // was woken because room appeared, and that room is gone again, or its search has its turn later.
  bool StaysRefused(model::GangId id);
  void Run(model::GangId id);

 private:
  // Closes the gang or its plan if nothing is left to do. Returns true if it did.
  bool IsOver(model::GangId id, Census& census);
  // Lets those stay that were to leave for the gang, if it does not start now.
  void SpareVictims(model::GangId id);
  // Reads from the bound members what an earlier leader did with the gang. REQUIRES: nothing is remembered of it.
  void Recall(model::GangId id, Census& census);
  // Counts what the gang was admitted for without places.
  void FollowSums(model::GangId id);
  // Forgets refusals of binds whose back-off has passed.
  void ForgiveNodes(Gang& gang) const;

  const cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  const QueueAdmission& admission_;
  Certificates& certificates_;
  Committer& committer_;
  FigureRefresh& figures_;
  Refusals& refusals_;
  Enrollment& enrollment_;
  QuotaGate& quota_;
  Promises& promises_;
  RoomSums& sums_;
  AutoFits& auto_fits_;
  StartPass& start_;
  GrowPass& grow_;
  UndoPass& undo_;
  const base::Clock& clock_;
};

}  // namespace tutti::core
