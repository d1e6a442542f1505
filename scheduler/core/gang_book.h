// SPDX-License-Identifier: Apache-2.0
// GangBook: which gangs exist, who is in them, and which are to be considered next.
//
// Invariants
//   (1) a pod is a member of at most one gang; a gang without members exists while its declaration Keeps it;
//   (2) ready gangs are taken by priority, then those first whose minimum may lack something, then age (the API server
//       tells it in seconds), then class by class, for a class's ranking catches up once for all of them, then name;
//   (3) gangs refused alike (Refusal::shape) stand in one group, of which only the first is woken; when it leaves the
//       group, the next is. So ten thousand equal gangs cost what one costs;
//   (4) a lone pod that is bound, or has ended, is settled: nothing about it is left to decide, and it has no gang.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/slots.h"
#include "cluster/state.h"
#include "core/gang.h"
#include "core/line.h"
#include "framework/profile.h"

namespace tutti::core {

class GangBook {
 public:
  GangBook(const std::vector<framework::Profile>& profiles, const cluster::ClusterState& state,
           const dialects::DialectList& dialects, const base::Clock& clock);
  GangBook(const GangBook&) = delete;
  GangBook& operator=(const GangBook&) = delete;

  // Puts the pod into the gang its dialect names, moving it if that changed; takes it out of any when no dialect owns
  // it, or it is settled. Returns the gang it is in, or invalid.
  model::GangId Join(model::PodId pod);
  // Join would leave it where it is.
  bool Stays(model::PodId pod) const;
  // Takes the pod out. REQUIRES: the state still knows the pod.
  void Leave(model::PodId pod);
  // Drops the gang of a settled pod, if nothing of it is under way. REQUIRES: it was considered, and published.
  void SettleIfLone(model::GangId id);
  bool Settled(model::PodId pod) const { return pod.index() < settled_.size() && settled_[pod.index()].since_ms != 0; }
  base::Millis SettledSince(model::PodId pod) const { return settled_[pod.index()].since_ms; }  // wall
  // What would be its gang's key. REQUIRES: Settled(pod)
  model::GangKey KeyOfSettled(model::PodId pod) const;
  // The settled pod whose gang would be of this key; invalid: there is none.
  model::PodId FindSettled(const model::GangKey& key) const;
  size_t settled_whole() const { return settled_whole_; }  // those that have not ended
  model::GangId GangOf(model::PodId pod) const;
  model::GangId Find(const model::GangKey& key) const;
  // It stays where it is until it leaves. REQUIRES: GangOf(pod)
  Member& MemberOf(model::PodId pod) { return *members_[pod.index()]; }
  // nullptr: the pod is not of this gang, or there is none of this id.
  Member* Find(model::GangId gang, model::PodId pod) const;

  Gang& at(model::GangId id) { return gangs_[id.index()]; }
  const Gang& at(model::GangId id) const { return gangs_[id.index()]; }
  // Ids of gangs are below this; a slot without a dialect is free.
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

  // The gang exists without members too, for its object is there and we serve it.
  bool Keeps(const dialects::Dialect& dialect, const model::GangKey& key) const;
  // A gang without members yet, and not described. REQUIRES: there is none of this key.
  model::GangId Open(dialects::Dialect* dialect, model::GangKey key);
  // Asks the dialect for the declaration again. True when it changed.
  bool Describe(model::GangId id);
  // REQUIRES: it has no members.
  void Close(model::GangId id);

  int32_t Priority(const Gang& gang) const;
  base::Millis Created(const Gang& gang) const;
  std::string_view SchedulerName(const Gang& gang) const;

  // Ready gangs. A gang is in the line at most once.
  void MarkReady(model::GangId id);
  // Ready, but for nothing that happened to itself.
  void MarkWoken(model::GangId id);
  // The gang lacks nothing of its minimum: for what it takes besides, it stands behind all of its priority that may
  // lack something. True: some of those are ready, and it is in the line again. REQUIRES: it was taken from the line.
  bool StandBehind(model::GangId id);
  bool AnyReady() const { return !ready_.empty(); }
  model::GangId TakeReady();

  // After the gang was considered: it waits among those refused like it, or does not wait. Where the first of a group
  // that was woken left it, the next becomes ready.
  void Regroup(model::GangId id);
  // Makes ready the gangs that wait for something like what happened, or whose certificate is over, or doubtful.
  void Wake(framework::Wake happened);

  // Members that leave go through this first, so that charges and plans follow. Set once, at construction of the cycle.
  std::function<void(Gang&, Member&)> on_leave;
  // A gang is about to be closed. Likewise.
  std::function<void(Gang&)> on_close;
  // A gang is no more, or a pod that is settled came, ended or went. Likewise.
  std::function<void(model::GangKey)> on_change;

 private:
  struct InLine {
    const GangBook* book;
    bool operator()(model::GangId a, model::GangId b) const;
  };
  struct Group {
    std::string shape;
    std::set<model::GangId, InLine> gangs;
    framework::Wake wakes = framework::Wake::kNothing;             // of the last refusal
    std::shared_ptr<const Certificate> certificate;                // likewise; may be null
    std::vector<std::shared_ptr<const Certificate>> certificates;  // likewise
    bool woken = false;
  };
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
  struct Owner {
    dialects::Dialect* dialect = nullptr;
    dialects::Membership membership;
  };
  std::optional<Owner> OwnerOf(model::PodId pod) const;
  Member& Enlist(model::GangId id, model::PodId pod);
  void Settle(model::PodId pod, const dialects::Dialect& dialect, base::Millis since_ms);
  void Unsettle(model::PodId pod);
  void PutInLine(model::GangId id);
  void SetPlaceInLine(Gang& gang) const;
  void Resort(model::GangId id);
  void LeaveGroup(model::GangId id);
  void WakeFirst(const Group& group) { MarkWoken(*group.gangs.begin()); }

  const std::vector<framework::Profile>& profiles_;
  const cluster::ClusterState& state_;
  const dialects::DialectList& dialects_;
  const base::Clock& clock_;
  Gangs gangs_;
  std::vector<model::GangId> free_;
  absl::flat_hash_set<model::GangId, KeyHash, KeyEqual> by_key_;
  std::vector<model::GangId> gang_of_;            // by pod slot
  std::vector<std::unique_ptr<Member>> members_;  // by pod slot; null: in no gang
  std::vector<Settlement> settled_;               // by pod slot
  size_t settled_whole_ = 0;
  Line<model::GangId, InLine> ready_;
  std::deque<Group> groups_;
  std::vector<uint32_t> free_groups_;
  std::unordered_map<std::string, uint32_t> group_of_;  // by shape
};

}  // namespace tutti::core
