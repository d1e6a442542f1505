// SPDX-License-Identifier: Apache-2.0
// Evictor: removes pods of any scheduler and controller. Each is first told why (the DisruptionTarget condition), and
// then deleted, both by its UID; the deletion is graceful.
//
// An eviction is asked for again and again, each time the gang that it is for is considered: what is on its way is not
// sent twice, and what was refused is sent again after half a second. Invariants
//   (1) a pod is never deleted without the condition;
//   (2) a member of a gang that is undone is deleted only if a controller recreates it without harm. No other cause
//       spares a pod: which pods may go is decided where victims are chosen.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <optional>
#include <string>
#include <vector>

#include "cluster/state.h"
#include "core/commit/plans.h"
#include "core/outbox.h"

namespace tutti::core {

// Why a pod is evicted, and for which gang.
struct Eviction {
  using Cause = EvictionCause;
  Cause cause = Cause::kUndo;
  model::GangId by;      // considered again when the pod is gone, and when the eviction is to be sent again
  std::string why = {};  // kUndo: in words
};

class Evictor {
 public:
  Evictor(cluster::ClusterState& state, GangBook& book, Agenda& agenda, Plans& plans, Outbox& outbox,
          const Announcer& announcer, const base::Clock& clock)
      : state_(state),
        book_(book),
        agenda_(agenda),
        plans_(plans),
        outbox_(outbox),
        announcer_(announcer),
        clock_(clock) {}

  // Evicts the pod, unless it has ended or is on its way out already. REQUIRES: the state knows it.
  void Evict(model::PodId pod, const Eviction& eviction);
  // Evicts a member of a gang that is undone. Returns false if it is kept, and Member::why_kept says why.
  bool EvictUnlessKept(Member& member, const std::string& why);
  // Tells whether the member would stay if its gang were undone, and is not on its way out.
  bool Keeps(const Member& member) const;
  // Evicts a member that can only be recreated, because its node does not exist. Returns false likewise.
  bool EvictLost(Member& member);
  // Makes the gangs ready that the pod was evicted for: it is gone, and about to be dropped.
  void OnGone(model::PodId pod);
  // A pod has ended, and holds no room any more; its object may stay for long.
  void OnEnded(model::PodId pod);
  // Forgets what is on its way: another leader may have written.
  void StartTerm();

  size_t under_way() const { return outbox_.awaited(Outbox::For::kEviction); }

 private:
  // Of a pod that is to go.
  struct Going {
    std::vector<cluster::EmitEvent> events;    // that tell of the one under way, once it is acknowledged
    bool deletes = false;                      // the deletion is under way
    absl::InlinedVector<model::GangId, 1> by;  // all gangs that asked
    base::Millis again_ms = 0;                 // monotonic; no attempt before, because the last one was refused
  };
  // What is said of an eviction on the pod, and in an Event.
  struct Said {
    std::string reason, message;  // the condition's
    std::string note;             // the Event's; empty: there is none
  };
  // Returns the Events of the eviction; first those of the ecosystem of the pod's gang, if that has words of its own.
  std::vector<cluster::EmitEvent> EventsOf(model::PodId id, const Eviction& eviction, const std::string& note) const;
  void PostEvents(Going& going);

  std::optional<std::string> WhyKept(const model::Pod& pod) const;
  Said Say(const model::Pod& pod, const Eviction& eviction) const;
  // Handles a reply. `announced`: it is to the delete, not to the condition.
  void OnReply(model::PodId id, const model::Pod& as, bool announced, const cluster::CommandReply& reply);
  template <typename Body>
  void Send(model::PodId id, bool announced, Body body);

  cluster::ClusterState& state_;
  GangBook& book_;
  Agenda& agenda_;
  Plans& plans_;
  Outbox& outbox_;
  const Announcer& announcer_;
  const base::Clock& clock_;
  absl::flat_hash_map<model::PodId, Going> going_;  // until they are gone
};

}  // namespace tutti::core
