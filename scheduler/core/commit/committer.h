// SPDX-License-Identifier: Apache-2.0
// Committer: carries plans out. Reserve → victims leave, prepare (volumes) → bind all but one → bind the last → whole;
// or undo (P2, P3). PlanPhase says how one follows from another.
//
// Invariants
//   (1) the commit member's bind leaves only when every other required member is bound to an existing node;
//   (2) no bind of a gang that is not whole leaves before the preparations of all its placed members are done.
// Plans and Evictor have more.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cluster/state.h"
#include "cluster/what_if.h"
#include "core/commit/binder.h"
#include "core/commit/evictor.h"
#include "core/commit/extender_desk.h"
#include "core/commit/node_watch.h"
#include "core/commit/nominator.h"
#include "core/commit/plans.h"
#include "core/commit/queue_watch.h"
#include "core/commit/victim_removal.h"
#include "core/commit/volume_binder.h"

namespace tutti::core {

class Committer {
 public:
  Committer(const Options& options, cluster::ClusterState& state, GangBook& book, Agenda& agenda, const Queues& queues,
            Charges& charges, Outbox& outbox, const ExtenderDesk& extender_desk, PodStatus& pod_status,
            GangStatus& gang_status, const Announcer& announcer, const base::Clock& clock)
      : options_(options),
        state_(state),
        book_(book),
        agenda_(agenda),
        charges_(charges),
        gang_status_(gang_status),
        plans_(options, state, book, agenda, charges, gang_status, announcer, clock),
        binder_(options, state, book, agenda, plans_, outbox, extender_desk, pod_status, announcer, clock),
        evictor_(state, book, agenda, plans_, outbox, announcer, clock),
        nodes_(options, state, book, agenda, plans_, charges),
        queues_(state, book, agenda, queues, plans_),
        volumes_(options, state, book, agenda, outbox, clock),
        victims_(options, state, book, agenda, evictor_, outbox, clock),
        nominator_(state, book, agenda, outbox, clock) {}

  // Begins a new term as leader: nothing is remembered of commands before.
  void StartTerm();

  // Takes up a plan that was left half done. `in_doubt`: by an earlier leader, perhaps, whose bind of the member that
  // is bound last may have left.
  void Resume(model::GangId id, const std::string& plan_id, const std::string& commit_uid, bool in_doubt);
  // Adds placements to the gang's plan, made if there is none, and holds their room. `victims` leave before any of its
  // binds does; with them gone every placement stands. REQUIRES, where there are some: VictimRemoval::MayGo, the gang
  // has no victims yet, and no bind of the plan has left.
  void Reserve(model::GangId id, const std::vector<cluster::Placement>& placements, std::vector<Victim> victims = {});
  // Gives up a plan whose victims are not gone in time. Returns true if it did: another plan may be made without them.
  bool GiveUpLate(model::GangId id);
  // Sends what may be sent now. It is called after anything about the gang changed.
  void Pump(model::GangId id);
  // Forgets the plan and the room it holds, if none of its binds ever left and so nothing is undone. Returns true if
  // its members are pending again; false: there is no plan, or it has to be repaired or undone.
  bool Abort(model::GangId id);
  // Begins to undo the gang's plan: unsent members give up their room, bound ones are evicted where that does no harm.
  // Returns false if all that are bound are kept.
  bool Undo(model::GangId id, const std::string& why);

  // Handles that the pod of an open assignment was seen bound, was deleted, or failed. Returns true if it is as
  // planned, and its gang Flows.
  bool OnPodChanged(model::GangId id, model::PodId pod);
  // Takes a member that is about to leave its gang out of the plan: its pod goes, or nothing of it is on its way.
  void OnLeave(model::GangId id, Member& member);
  // Gives the pod the place that is held for the promise.
  void HandOver(model::GangId id, Member& promise, Member& pod);
  // Makes gangs ready that have members whose preparation is not done.
  void WakeUnprepared();

  Plans& plans() { return plans_; }
  const Plans& plans() const { return plans_; }
  Evictor& evictor() { return evictor_; }
  VictimRemoval& victims() { return victims_; }
  // Returns the part that handles what happens to nodes.
  NodeWatch& nodes() { return nodes_; }
  QueueWatch& queues() { return queues_; }  // likewise, to queues
  // Tells whether no bind or eviction is under way.
  bool quiet() const { return binder_.in_flight() == 0 && evictor_.under_way() == 0; }
  // Returns how many binds the API server has not dealt with once.
  size_t fresh_binds() const { return binder_.in_flight() - binder_.delayed(); }

 private:
  // Begins the preparations of a pod that has a place.
  void BeginPreparing(model::GangId id, const Member& member, Assignment& assignment);
  // Puts the plan's deadline off where the member may take longer to be prepared: its repair begins after that.
  void AllowForPreparing(model::GangId id, const Assignment& assignment);
  // Advances every reserved member's preparations. Returns true if all are done. Members of which one failed give up
  // their room.
  bool Prepare(model::GangId id);
  // Says on the pods that wait for victims or preparations, their own or others', which nodes are kept for them.
  void Nominate(model::GangId id);
  // Chooses the member that is bound last, of those that have a place; none if all are promised.
  void ChooseCommitMember(model::GangId id, const std::vector<cluster::Placement>& placements);
  // Begins to bind a gang that was admitted before its pods, which are there now.
  void BeginBinding(model::GangId id);

  const Options& options_;
  cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Charges& charges_;
  GangStatus& gang_status_;
  Plans plans_;
  Binder binder_;
  Evictor evictor_;
  NodeWatch nodes_;
  QueueWatch queues_;
  VolumeBinder volumes_;
  VictimRemoval victims_;
  const std::array<Preparation*, 1> preparations_{&volumes_};
  Nominator nominator_;
};

}  // namespace tutti::core
