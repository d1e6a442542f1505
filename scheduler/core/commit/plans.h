// SPDX-License-Identifier: Apache-2.0
// Plans: which gangs have a plan, what room each holds, and when a plan has made its gang whole.
//
// Invariant: a reservation is held from Reserve until the pod is seen bound, its bind is known to have failed, or it is
// gone.
#pragma once

#include <absl/container/btree_set.h>

#include <string>

#include "cluster/state.h"
#include "core/admit/charges.h"
#include "core/gangs/agenda.h"
#include "core/options.h"
#include "core/publish/announcer.h"
#include "core/publish/gang_status.h"

namespace tutti::core {

class Plans {
 public:
  Plans(const Options& options, cluster::ClusterState& state, GangBook& book, Agenda& agenda, Charges& charges,
        GangStatus& gang_status, const Announcer& announcer, const base::Clock& clock)
      : options_(options),
        state_(state),
        book_(book),
        agenda_(agenda),
        charges_(charges),
        gang_status_(gang_status),
        announcer_(announcer),
        clock_(clock) {}

  // Begins a new term as leader, whose plans have ids of their own.
  void StartTerm();

  // Opens a plan for the gang. `commit_uid`: the member that is bound last; empty: not chosen yet.
  Plan& Begin(model::GangId id, const std::string& plan_id, const std::string& commit_uid);
  // Returns a short id, because each bind carries one; unique among all leaders' terms.
  std::string NewId();
  // Sets the deadline by which the gang is to be whole, counted from now. REQUIRES: a plan.
  void RestartDeadline(Gang& gang) const;
  // Closes the plan, and gives up the room of all members whose bind has not left. REQUIRES: nothing of it is left to do.
  void End(model::GangId id);
  // Holds room on the node for the pod, and what the pod takes there.
  void Hold(model::PodId pod, model::NodeId node, cluster::Takings takings = {});
  // Gives the pod the place that is held for a promise of its gang. REQUIRES: a plan holds it; both are of one class.
  void HandOver(Gang& gang, Member& promise, Member& to);
  // Gives up the room that the plan holds for the member.
  void Release(Gang& gang, Member& member);
  // Gives up the room of all members whose bind has not left.
  void ReleaseUnsent(model::GangId id);
  // Forgets the member, which is about to leave its gang.
  void Drop(Gang& gang, Member& member);

  // Makes the gang whole if its last bind is seen to have happened, or its minimum to be bound.
  void ConfirmIfWhole(model::GangId id);
  // Makes the gang whole, unless it is, or is being undone. REQUIRES: a plan.
  void MakeWhole(Gang& gang);

  // Sets whether the gang is or was whole by what its bound members say, and whether one of them says so. REQUIRES: no
  // plan of it is known.
  static void RecallWhole(Gang& gang, bool whole, bool proven = true) {
    if (gang.quota) gang.census.reset();  // see CountEnded
    gang.whole = whole;
    gang.unproven = whole && !proven;
  }
  // Forgets that the gang was whole: nothing is bound of it, or what its members say counts.
  static void ForgetWhole(Gang& gang) { RecallWhole(gang, false); }

  // Returns the member that is bound last; invalid: it is no member, or none was placed yet. REQUIRES: a plan.
  model::MemberId CommitMember(model::GangId id) const;
  // Returns true if a bind of the pod was sent and its result is not known.
  bool OnItsWay(model::PodId pod) const;
  // Tells whether the bind that makes the gang whole has no reply: the gang may have been whole for a while. REQUIRES:
  // a plan.
  bool CommitOnItsWay(model::GangId id) const;
  // Returns a member whose bind may still take effect and make the gang whole, though none is on its way; null: none.
  // REQUIRES: a plan.
  Member* CommitInDoubt(Gang& gang) const;
  // Tells whether binds with which the gang is to start are on their way. Until the last has its reply, one more that
  // went as planned leaves nothing to decide. So a gang of thousands is counted a few times, not with each bind.
  // REQUIRES: a plan.
  static bool Flows(const Gang& gang);
  // Tells whether the member's bind is one of the gang's plan, acknowledged or seen. A bind before the plan, or by
  // others, does not count. REQUIRES: a plan, and the member is bound.
  bool IsOfPlan(const Member& member, const Gang& gang) const;

  bool any() const { return !planned_.empty(); }
  // Returns the gangs with a plan, by id.
  const absl::btree_set<model::GangId>& all() const { return planned_; }

 private:
  bool CommitIsBound(model::GangId id) const;

  const Options& options_;
  cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Charges& charges_;
  GangStatus& gang_status_;
  const Announcer& announcer_;
  const base::Clock& clock_;
  absl::btree_set<model::GangId> planned_;
  std::string term_;
  uint64_t count_ = 0;
};

}  // namespace tutti::core
