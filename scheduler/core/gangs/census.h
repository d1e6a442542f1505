// SPDX-License-Identifier: Apache-2.0
// Census: the members of one gang by what they are doing, and what its minimum still lacks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cluster/state.h"
#include "core/gangs/gang.h"
#include "observe/reason.h"

namespace tutti::core {

struct Census {
  Members placed;    // bound to an existing node and alive, or acknowledged there
  Members reserved;  // held a place by the gang's plan; not acknowledged
  Members later;     // promised for after the start, and held a place by the plan
  Members lost;      // bound to a node that does not exist
  // May be placed; first the member to be bound last, as those that are bound say already; then by priority, then by
  // age.
  Members pending;
  Members beyond;              // may be placed once their gang has quota for them (QuotaGate::HoldBack)
  Members held;                // held back, and no gate says so; of those that are `gated`
  Members refused;             // might be placed, but several nodes refused it a moment ago (HoldRefusedBack)
  Member* last = nullptr;      // of `pending`, the one to be bound last by the open plan
  Members ran;                 // succeeded, and were of this gang: they count as before
  Member* recorder = nullptr;  // waits, and its pod carries a record of a preemption (gangs/preemption.h)
  int64_t gated = 0, deleting = 0, running = 0, succeeded = 0, failed = 0;

  bool NobodyBound() const { return placed.empty() && lost.empty(); }
  bool holds_nodes() const { return !placed.empty() || !reserved.empty() || !lost.empty(); }
  // Tells whether no member holds a node or a reservation, or has run in the present start.
  bool empty_handed() const {
    return placed.empty() && reserved.empty() && later.empty() && lost.empty() && ran.empty();
  }
  friend bool operator==(const Census&, const Census&) = default;
};

// Counts all members by what they do. GangBook::CensusOf does so only if something changed.
Census TakeCensus(const Gang& gang, const cluster::ClusterState& state);

// Takes out of `pending` those whose binds so many nodes refused that none is asked before its backoff has passed: till
// then the gang starts without them or keeps no room for them. But never the member to be bound last, once others are
// bound.
void HoldRefusedBack(const Gang& gang, base::Millis now_ms, Census* census);

// Tells whether members are on their way out, though Tutti does not evict them, and none is there in their place.
bool IsTerminating(const Gang& gang, const Census& census, const cluster::ClusterState& state);
// Tells whether all members have ended, and the gang waits for no others: there are as many as it needs.
bool HasEnded(const Gang& gang, const Census& census);

// What must be placed before the gang is whole.
struct Requirement {
  struct Role {
    std::string name;
    int64_t min = 0;    // as declared; at least 1 for a role with a head
    int64_t have = 0;   // placed or reserved, or ran
    int64_t exist = 0;  // have + pending
    int64_t must = 0;   // those of `must` that are of it
  };
  struct Units {  // GangSpec::units with a minimum
    std::string name;
    size_t spec = 0;  // its place in GangSpec::units
    int64_t size = 1, min = 0;
    int64_t whole = 0;  // placed or reserved, or ran
    int64_t exist = 0;  // whole + those that could be
  };
  std::vector<Role> roles;               // with min > 0, sorted by name
  int64_t min = 0, have = 0, exist = 0;  // of the whole gang; min is at least the roles' sum
  std::vector<Units> units;
  Members must;  // pending members each of which is placed: those that make units whole, and the one bound last
  bool head_missing = false;  // a member needs a head and none exists
  bool tries_again = false;   // on nodes that refused a bind of late, too
  // How the gang stands, which was whole, of members that it takes besides; null: of its minimum.
  std::shared_ptr<const observe::Standing> standing;

  bool met() const;         // every minimum is placed or reserved
  bool reachable() const;   // every minimum exists
  int64_t lacking() const;  // members still to be placed, at least
};

Requirement Require(const Gang& gang, const Census& census);

// Tells whether every minimum is placed or reserved, no member has lost its node, and no placed member is being evicted
// because its node was gone, though that has come back.
bool MinimumStands(const Gang& gang, const Census& census, const cluster::ClusterState& state);

// The gang has a plan that holds room, for itself alone, and no bind of it has left: the room can be given back without
// an eviction.
bool HoldsRoomAlone(const Gang& gang, const Census& census);

// Gives all pods that wait, and have no gate that says so, this reason.
void RefuseWaiting(const Census& census, Refusal why);

}  // namespace tutti::core
