// SPDX-License-Identifier: Apache-2.0
// Enrollment: puts pods into gangs and takes them out again, so that plans, charges, counts and the agenda follow.
#pragma once

#include <cstdint>
#include <set>

#include "core/admit/quota_desk.h"
#include "core/admit/room_sums.h"
#include "core/commit/committer.h"
#include "core/gangs/fit.h"
#include "core/gangs/strangers.h"
#include "core/publish/gang_status.h"
#include "core/publish/queue_status.h"
#include "core/publish/tallies.h"

namespace tutti::core {

class Enrollment {
 public:
  Enrollment(cluster::ClusterState& state, const dialects::DialectList& dialects, GangBook& book, Agenda& agenda,
             Charges& charges, QueueWaits& queue_waits, QuotaDesk& quota_desk, RoomSums& sums, AutoFits& auto_fits,
             Committer& committer, Strangers& strangers, Tallies& tallies, GangStatus& gang_status,
             QueueStatus& queue_status, const Announcer& announcer, const base::Clock& clock)
      : state_(state),
        dialects_(dialects),
        book_(book),
        agenda_(agenda),
        charges_(charges),
        queue_waits_(queue_waits),
        quota_desk_(quota_desk),
        sums_(sums),
        auto_fits_(auto_fits),
        committer_(committer),
        strangers_(strangers),
        tallies_(tallies),
        gang_status_(gang_status),
        queue_status_(queue_status),
        announcer_(announcer),
        clock_(clock) {}

  // Puts the pod into the gang that it says it is of. While a bind of it is on its way it stays where it is, and is
  // asked again in the next cycle: what is held for it is its gang's, and so is what comes of that bind.
  void Rejoin(model::PodId pod);
  // Asks the pods again that stayed for that reason.
  void RejoinMoving();
  // Notes that the pod names a scheduler that is not served here. `before`: as it was; null: it is new.
  void NoteStranger(model::PodId id, const model::Pod* before);
  // Takes the pod out of its gang and out of the state.
  void Drop(model::PodId id);

  // Makes a promise of the gang's declaration a member of it.
  void AddPromise(model::GangId id, const model::PromisedMembers& as);
  // Takes a promise out of its gang and out of the state.
  void DropPromise(Member& member);

  // Drops the gang of a lone pod that is settled, if it is. REQUIRES: it was considered, and published.
  void SettleIfLone(model::GangId id);
  // Closes the gang. REQUIRES: it has no members.
  void Close(model::GangId id);

  // Notes that Services or controllers select other pods now.
  void OnSelectionsChanged() { ++selections_; }
  // Classifies the gang's members by what selects them now, unless that was done since the last change: what default
  // spread constraints say of a pod is of the moment in which it is planned.
  void Reselect(Gang& gang);

 private:
  // Takes the pod out of its gang, if it is in one.
  void Leave(model::PodId pod);
  // Takes the pod out of its gang, if it is in one, and closes a gang that nothing keeps.
  void LeaveAndClose(model::PodId pod);

  cluster::ClusterState& state_;
  const dialects::DialectList& dialects_;
  GangBook& book_;
  Agenda& agenda_;
  Charges& charges_;
  QueueWaits& queue_waits_;
  QuotaDesk& quota_desk_;
  RoomSums& sums_;
  AutoFits& auto_fits_;
  Committer& committer_;
  Strangers& strangers_;
  Tallies& tallies_;
  GangStatus& gang_status_;
  QueueStatus& queue_status_;
  const Announcer& announcer_;
  const base::Clock& clock_;
  std::set<model::PodId> moving_;  // to another gang, once it is known what came of their binds
  uint64_t selections_ = 0;
};

}  // namespace tutti::core
