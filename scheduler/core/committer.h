// SPDX-License-Identifier: Apache-2.0
// Committer: carries plans out. Reserve → have volumes bound → bind all but one → bind the last → whole; or undo
// (P2, P3).
//
// Invariants
//   (1) a reservation is held from Reserve until the pod is seen bound, its bind is known to have failed, or it is
//   gone; (2) the commit member's bind leaves only when every other required member is bound to an existing node; (3)
//   no bind of a gang that is not whole leaves before the volumes of all its placed members are settled; (4) a member
//   is deleted only with its UID as precondition, and only if a controller recreates it without harm.
#pragma once

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include <functional>
#include <string>
#include <unordered_map>

#include "cluster/state.h"
#include "cluster/what_if.h"
#include "core/census.h"
#include "core/charges.h"
#include "core/extender_desk.h"
#include "core/gang_book.h"
#include "core/nominator.h"
#include "core/outbox.h"
#include "core/scheduler.h"
#include "core/volume_binder.h"

namespace tutti::core {

class Committer {
 public:
  Committer(const Options& options, cluster::ClusterState& state, GangBook& book, Charges& charges, Outbox& outbox,
            const ExtenderDesk& extender_desk, const base::Clock& clock)
      : options_(options),
        state_(state),
        book_(book),
        charges_(charges),
        outbox_(outbox),
        extender_desk_(extender_desk),
        clock_(clock),
        volumes_(options, state, book, outbox, clock),
        nominator_(state, book, outbox, clock) {
    volumes_.on_timer = nominator_.on_timer = [this](model::GangId id, base::Millis at_ms) { on_timer(id, at_ms); };
  }

  // A new term as leader: plans get ids of their own, and nothing is remembered of commands before.
  void StartTerm();

  // Takes up a plan that was left half done. `in_doubt`: by an earlier scheduler, perhaps, whose bind of the member
  // that is bound last may have left.
  void Resume(model::GangId id, const std::string& plan_id, const std::string& commit_uid, bool in_doubt);

  // Nothing of the plan is left to do.
  void EndPlan(model::GangId id);

  // Adds placements to the gang's plan, made if there is none, and holds their room.
  void Reserve(model::GangId id, const std::vector<cluster::Placement>& placements);

  // Forgets the plan and the room it holds, if none of its binds ever left and so nothing is undone. False: it has to
  // be repaired or undone.
  bool Abort(model::GangId id);

  // Sends what may be sent now. Called after anything about the gang changed.
  void Pump(model::GangId id);

  // A bind of the pod left, and neither is it seen bound nor is that bind known to have failed.
  bool OnItsWay(model::PodId pod) const;
  // The bind that makes the gang whole is unanswered: it may have been whole for a while. REQUIRES: a plan.
  bool CommitOnItsWay(model::GangId id) const;
  // A member whose bind may still take effect and make the gang whole, though none is on its way; null: none.
  // REQUIRES: a plan.
  Member* CommitInDoubt(Gang& gang) const;
  // Binds with which it is to start are on their way: until the last is answered, one more that went as planned leaves
  // nothing to decide. A gang of thousands is so counted a few times, not with each of its binds. REQUIRES: a plan.
  static bool Flows(const Gang& gang);
  // The gang is whole from here on if its last bind is seen to have happened, or its minimum to be bound.
  void ConfirmIfWhole(model::GangId id);
  // Begins to undo the gang's plan: unsent members give up their room, bound ones are evicted where that does no harm.
  // False: all that are bound are kept.
  bool Undo(model::GangId id, const std::string& why);
  // Of a plan that is being undone: room that no bind on its way needs, such as after a refused one.
  void GiveUpUnsent(model::GangId id);
  // Evicts a member (as in Undo) unless it is on its way out already. True: it is on its way, or will be tried again,
  // once every half second, for what refuses it may last (a cache that is behind: the pod is gone).
  bool Evict(Gang& gang, Member& member, const std::string& why);
  // As Evict, of a member that can only be recreated, for its node does not exist.
  bool EvictLost(Gang& gang, Member& member);

  // An answer; true when it was to a command of ours. The gang concerned is marked ready, unless it Flows.
  bool OnAnswer(const cluster::Answer& answer);
  // The pod of an open assignment was seen bound, was deleted, or failed. True: it is as planned, and its gang Flows.
  bool OnPodChanged(model::GangId id, model::PodId pod);
  // The member is about to leave its gang: its pod goes, or nothing of it is on its way.
  void OnLeave(Gang& gang, Member& member);
  // The node is about to be dropped.
  void OnNodeGone(model::NodeId node);
  // Its labels, taints or capacity are others now.
  void OnNodeChanged(model::NodeId node);
  // A pod that no plan put there takes room on it.
  void OnRoomTaken(model::NodeId node, model::PodId by);
  // Some volume is another one now, or gone: those that wait for volumes look.
  void OnVolumeChanged();
  // A node of a name that was not there has come: what was sent to that name, and may have happened, holds room on it.
  void OnNodeCame(model::NodeId node);

  bool Owes() const { return !binds_.empty() || !evictions_.empty(); }
  size_t awaited() const { return binds_.size() + evictions_.size() + nominator_.awaited(); }
  size_t binds_in_flight() const { return binds_.size(); }

  // Called with each acknowledged bind, and when a gang becomes whole.
  std::function<void(const Gang&, const Member&, const std::string& node)> on_bound;
  std::function<void(Gang&)> on_whole;
  // Called with each eviction that leaves. May be empty, in tests.
  std::function<void(const Gang&, const Member&, const std::string& why)> on_evicted;
  // Consider the gang again at the instant (monotonic).
  std::function<void(model::GangId, base::Millis at_ms)> on_timer;
  std::function<void(Gang&, Member&, const std::string& message)> on_refused;

 private:
  // True: it is bound as it was planned.
  bool OnBindAnswer(model::GangId id, model::PodId pod, const cluster::Answer& answer);
  bool OnEvictionAnswer(const cluster::Answer& answer);
  void Begin(model::GangId id, const std::string& plan_id, const std::string& commit_uid);
  bool HasRoom(model::NodeId node, model::PodId pod) const;
  bool StillTakes(model::NodeId node, model::PodId pod) const;
  // False while some volume of the plan is open, but for those of `id`'s members that failed: they give up their room.
  bool SettleVolumes(model::GangId id);
  // Says on the pods that wait for volumes, their own or others', which nodes are kept for them.
  void Nominate(model::GangId id);
  void Refuse(Gang& gang, model::PodId pod, const std::string& message);
  void SendWhenDue(model::GangId id, model::PodId pod, Assignment& assignment);
  void SendBind(model::GangId id, model::PodId pod, Assignment& assignment);
  void Doubt(Gang& gang, model::PodId pod, Assignment& assignment);
  // The member that is bound last; none: it is no member, or nobody was placed yet. REQUIRES: a plan.
  model::PodId CommitMember(model::GangId id) const;
  bool CommitIsBound(model::GangId id) const;
  void MakeWhole(Gang& gang);
  void Release(Gang& gang, model::PodId pod);
  std::optional<std::string> WhyKept(const model::Pod& pod) const;
  std::string NewPlanId();

  struct Bound {
    model::GangId gang;
    model::PodId pod;
    std::shared_ptr<const model::Pod> as;  // it was when its bind left
  };
  struct Eviction {
    model::GangKey gang;
    model::PodId pod;
    std::string uid;
    bool marked = false;  // the DisruptionTarget condition was answered; the delete is under way
  };

  const Options& options_;
  cluster::ClusterState& state_;
  GangBook& book_;
  Charges& charges_;
  Outbox& outbox_;
  const ExtenderDesk& extender_desk_;
  const base::Clock& clock_;
  VolumeBinder volumes_;
  Nominator nominator_;
  absl::flat_hash_map<cluster::CommandId, Bound> binds_;
  std::unordered_map<cluster::CommandId, Eviction> evictions_;
  absl::btree_set<model::GangId> planned_;  // the gangs with a plan
  std::string term_;
  uint64_t plans_ = 0;
};

}  // namespace tutti::core
