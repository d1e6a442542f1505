// SPDX-License-Identifier: Apache-2.0
// GangBook: which gangs exist, and which pods are their members.
//
// Invariants
//   (1) a pod is a member of at most one gang, and a member has at most one pod;
//   (2) a gang without members exists while its declaration Keeps it;
//   (3) a lone pod that is bound, or has ended, is settled: nothing about it is left to decide, and it has no gang.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/slots.h"
#include "cluster/state.h"
#include "core/gangs/census.h"
#include "core/gangs/gang.h"
#include "framework/profile.h"
#include "observe/journal.h"

namespace tutti::core {

class GangBook {
 public:
  GangBook(const std::vector<framework::Profile>& profiles, const cluster::ClusterState& state,
           const dialects::DialectList& dialects, observe::Journal& journal, const base::Clock& clock);
  GangBook(const GangBook&) = delete;
  GangBook& operator=(const GangBook&) = delete;

  // The gang that a pod says it is of.
  struct Owner {
    dialects::Dialect* dialect = nullptr;
    dialects::Membership membership;
  };
  // Returns the owner of the pod; nullopt: no dialect owns it.
  std::optional<Owner> OwnerOf(model::PodId pod) const;
  // Tells whether the pod is where its owner puts it.
  bool Stays(model::PodId pod, const std::optional<Owner>& owner) const;
  // Puts the pod into the gang of its owner, or into none if it has no owner or is settled. Returns the gang it is in,
  // or invalid. REQUIRES: the pod is in no gang, or Stays.
  model::GangId Join(model::PodId pod, std::optional<Owner> owner);
  // Adds a member that has no pod yet. REQUIRES: `pod` is a promise of the state, and in no gang.
  Member& AddPromise(model::GangId id, const model::PromisedMembers& as, model::PodId pod);
  // Takes the pod out of its gang, if it is in one. REQUIRES: the state still knows the pod.
  void Leave(model::PodId pod);
  // Tells whether the gang is a lone pod about which nothing is left to decide, and nothing of it is under way.
  // REQUIRES: it was considered, and published.
  bool IsSettled(const Gang& gang) const;
  // Remembers the pod of a lone gang that is gone as settled. REQUIRES: the pod is in no gang.
  void RetireLonePod(model::PodId pod, const dialects::Dialect& dialect, base::Millis since_ms);
  bool Settled(model::PodId pod) const { return pod.index() < settled_.size() && settled_[pod.index()].since_ms != 0; }
  base::Millis SettledSince(model::PodId pod) const { return settled_[pod.index()].since_ms; }  // wall
  // Returns what would be its gang's key. REQUIRES: Settled(pod)
  model::GangKey KeyOfSettled(model::PodId pod) const;
  // Returns the settled pod whose gang would be of this key; invalid: there is none.
  model::PodId FindSettled(const model::GangKey& key) const;
  size_t settled_whole() const { return settled_whole_; }  // those that have not ended
  model::GangId GangOf(model::PodId pod) const;
  model::GangId Find(const model::GangKey& key) const;
  // Returns the pod's place in its gang; invalid: it is in none.
  model::MemberId member_of(model::PodId pod) const {
    return pod.index() < member_of_.size() ? member_of_[pod.index()] : model::MemberId();
  }
  // Returns what the pod is charged to a queue, as a member; null: nothing.
  const QueueCharge* ChargeOf(model::PodId pod) const {
    const model::MemberId id = member_of(pod);
    return id.valid() && at(id).held.as ? &at(id).held : nullptr;
  }
  // Returns the member of the pod, which stays where it is until it leaves. REQUIRES: member_of(pod)
  Member& MemberOf(model::PodId pod) { return at(member_of(pod)); }
  Member& at(model::MemberId id) { return *members_[id.index()]; }
  const Member& at(model::MemberId id) const { return *members_[id.index()]; }
  // Returns the member's pod. REQUIRES: it has one.
  const std::shared_ptr<const model::Pod>& PodOf(model::MemberId id) const { return state_.pod(at(id).pod).pod; }
  // Returns the member of the pod; null: the pod is not of this gang, or there is no gang of this id.
  Member* Find(model::GangId gang, model::PodId pod) const;
  // Returns the member; null likewise. Another member may have its slot by now.
  Member* Find(model::GangId gang, model::MemberId member) const;

  // A member that a write is about, to find it again when the reply comes: another may have its slot by then.
  struct Written {
    model::GangKey gang;
    std::shared_ptr<const model::Pod> pod;  // as it was when the write was made
    model::PodId slot;
  };
  Written Remember(const Member& member) const;
  // Returns the member that was written to; null: its pod is gone, another one by now, or in another gang.
  Member* Find(const Written& written) const;

  Gang& at(model::GangId id) { return gangs_[id.index()]; }
  const Gang& at(model::GangId id) const { return gangs_[id.index()]; }
  // Returns a number that is above all gangs' ids; a slot without a dialect is free.
  uint32_t slots() const { return static_cast<uint32_t>(gangs_.size()); }
  size_t count() const { return by_key_.size(); }
  // Calls f(id, gang) for each, in the same order for the same history.
  template <typename F>
  void ForEach(F f) {
    for (uint32_t slot = 0; slot < slots(); ++slot)
      if (gangs_[slot].dialect) f(model::GangId(slot), gangs_[slot]);
  }
  template <typename F>
  void ForEach(F f) const {
    for (uint32_t slot = 0; slot < slots(); ++slot)
      if (gangs_[slot].dialect) f(model::GangId(slot), gangs_[slot]);
  }

  // Tells whether the gang exists without members too, because its object is there and we serve it.
  bool Keeps(const dialects::Dialect& dialect, const model::GangKey& key) const;
  // Opens a gang without members, which is not described yet. REQUIRES: there is none of this key.
  model::GangId Open(dialects::Dialect* dialect, model::GangKey key);
  // Asks the dialect for the declaration again. Returns true when it changed.
  bool Describe(model::GangId id);
  // Drops the gang. REQUIRES: it has no members, and the agenda has forgotten it.
  void Close(model::GangId id);
  // Drops a gang that was opened for a question alone. No reader learns of it. REQUIRES: as Close.
  void Retract(model::GangId id);

  // SetState: sets what the gang does from now on. Refuse: makes it wait, as its refusal says; a whole gang that is
  // refused more members stays whole.
  void SetState(Gang& gang, dialects::GangState to, std::optional<Refusal> why = std::nullopt) const;
  void Refuse(Gang& gang, Refusal why) const;
  // Forgets why the gang waited: that is over, and its state is still to be found.
  void EndRefusal(Gang& gang) const;
  // Marks the figures of what is said of the gang as ones that are to be said again.
  void RenewFigures(Gang& gang) const;
  // Lets such events, too, have the gang considered again. REQUIRES: it waits.
  void WakeOn(Gang& gang, framework::Wake events) const;

  // Returns the gang's census, taken once and kept. What changes it resets Gang::census: the gang's members or
  // declaration, a member's pod, the plan or one of its assignments, a member's node that comes or goes.
  // Scheduler::Audit compares.
  std::shared_ptr<const Census> CensusOf(Gang& gang) {
    if (!gang.census) {
      ++censuses_taken_;
      gang.census = std::make_shared<const Census>(TakeCensus(gang, state_));
    }
    return gang.census;
  }
  uint64_t censuses_taken() const { return censuses_taken_; }
  // CHECKs each census that is kept. For tests; O(members).
  void Audit() const;

  int32_t Priority(const Gang& gang) const;
  base::Millis Created(const Gang& gang) const;
  std::string_view SchedulerName(const Gang& gang) const;
  model::ClassId ClassOf(const Member& member) const { return state_.pod(member.pod).pod_class->id; }

 private:
  using Gangs = base::Slots<Gang, 64>;
  struct KeyHash {
    using is_transparent = void;
    const Gangs* gangs;
    size_t operator()(const model::GangKey& key) const { return absl::HashOf(key.dialect, key.ns, key.name); }
    size_t operator()(model::GangId id) const { return (*this)((*gangs)[id.index()].key); }
  };
  struct KeyEqual {
    using is_transparent = void;
    const Gangs* gangs;
    bool operator()(model::GangId a, model::GangId b) const { return a == b; }
    bool operator()(model::GangId a, const model::GangKey& b) const { return (*gangs)[a.index()].key == b; }
    bool operator()(const model::GangKey& a, model::GangId b) const { return (*this)(b, a); }
  };
  struct Settlement {
    base::Millis since_ms = 0;  // wall; 0: not settled
    bool ended = false;
    const dialects::Dialect* dialect = nullptr;
  };
  Member& Enlist(model::GangId id, model::PodId pod);
  void Unsettle(model::PodId pod);

  const std::vector<framework::Profile>& profiles_;
  const cluster::ClusterState& state_;
  const dialects::DialectList& dialects_;
  observe::Journal& journal_;
  const base::Clock& clock_;
  Gangs gangs_;
  std::vector<model::GangId> free_;
  absl::flat_hash_set<model::GangId, KeyHash, KeyEqual> by_key_;
  std::vector<std::unique_ptr<Member>> members_;  // by MemberId; null: the slot is free
  std::vector<model::MemberId> free_members_;
  std::vector<model::MemberId> member_of_;  // by pod slot
  std::vector<Settlement> settled_;         // by pod slot
  size_t settled_whole_ = 0;
  uint64_t censuses_taken_ = 0;
};

}  // namespace tutti::core
