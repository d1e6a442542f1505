// SPDX-License-Identifier: Apache-2.0
// GangSpec: what has been declared about a gang, whatever the ecosystem it was declared in.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/gang_ask.h"
#include "model/pod.h"
#include "model/queue.h"  // IWYU pragma: export
#include "model/resource_list.h"
#include "model/shared.h"
#include "model/topology.h"

namespace tutti::model {

// A gang's name in the cluster. `dialect` is Dialect::name().
struct GangKey {
  std::string dialect, ns, name;
  friend auto operator<=>(const GangKey&, const GangKey&) = default;
};

// A named part of a gang with a minimum of its own: the head, a worker group, a task.
struct RoleSpec {
  std::string name;
  int64_t min = 0;                // members needed before any member starts
  int64_t unit = 1;               // surplus starts in whole units of so many members (multi-host replicas)
  TopologyRequest topology = {};  // of this role's members
  friend bool operator==(const RoleSpec&, const RoleSpec&) = default;
};

// Parts of a gang that are of one size (subgroups, multi-host replicas): so many of them must be whole.
struct UnitSpec {
  std::string name;  // for people
  int64_t size = 1;  // members that make one whole; those of a surplus one start together, too
  int64_t min = 0;   // units that must be whole before any member starts
  // Empty, or the role whose members they are of: then `min` counts while all of those are in units, as not all that
  // declare units can tell that the members will say which.
  std::string role = {};
  friend bool operator==(const UnitSpec&, const UnitSpec&) = default;
};

// One of them: members that name the same one are in it.
struct Unit {
  size_t spec = 0;   // its place in GangSpec::units
  std::string name;  // no other unit of the gang has it
};

// Members of one role that are declared before they have pods: promises.
struct PromisedMembers {
  std::string role;
  int64_t count = 0;                      // pods that the role is to have; those that exist are among them
  bool head = false, needs_head = false;  // see dialects::Membership
  // Its pods come once the gang has started (a submitter): they have room from the beginning, and no bind waits for
  // them.
  bool late = false;
  // Each of its pods comes once the one before has started (a StatefulSet's): binds wait for the first alone, and there
  // is room for the others from the beginning. A pod that goes is followed by another.
  bool ordered = false;
  std::shared_ptr<const Pod> pod;  // as the template makes it, without a name and a UID; never null
  friend bool operator==(const PromisedMembers&, const PromisedMembers&) = default;
};

// What a gang needs of nodes to be admitted before its pods exist.
enum class Fit : uint8_t {
  kNodes,      // a place for each member, which is its own from then on
  kQuota,      // nothing: its pods wait for nodes as a gang
  kAggregate,  // that all nodes together have free what it asks for; its pods then wait as a gang
  kAuto,       // kQuota where an autoscaler is seen to add nodes, else kNodes
};

// What a gang whose queue gives quota before there are pods asks of it, and how far its object says it has come.
struct QuotaTerms {
  GangAsk ask;
  // The quota that its object says it has, from whatever program: it counts when this process begins, or where another
  // program gave it. Later the core's own word counts.
  std::optional<HeldQuota> has;
  // Why it has to give its quota back, or may have none though there is some (its object was deactivated, a check was
  // refused): a word of the rule, which the report has as the reason. Empty: nothing.
  std::string barred;
  base::Millis not_before_ms = 0;     // it gets no quota before that instant (wall time); 0: as soon as there is any
  bool awaits_checks = false;         // with quota, it is not placed on nodes yet: others have to agree first
  bool places_before_checks = false;  // with `awaits_checks`: it is placed nonetheless, and not admitted yet
  bool has_checks = false;            // others have to agree, or have agreed
  // Since when its pods are ready (wall time), as its object says; 0: they are not, or that is not asked for.
  base::Millis ready_ms = 0;
  base::Millis admitted_ms = 0;  // since when it may start (wall time), as its object says; 0: it may not
  bool released = false;  // its job may make pods, or still has some: quota and nodes are kept until it has stopped
  // By role, how many of its members have ended well and are not followed by others: they take no quota any more.
  std::map<std::string, int64_t> done;
  friend bool operator==(const QuotaTerms&, const QuotaTerms&) = default;
};

struct GangSpec {
  GangKey key;
  std::string uid;              // of the declaring object; empty when there is none
  base::Millis created_ms = 0;  // of the declaring object, wall time; 0: the oldest member's counts

  // Members needed before any starts. At least the sum of the roles' minima; what is above that sum may be of any role.
  int64_t min_member = 1;
  std::vector<RoleSpec> roles;  // sorted by name; members of other roles count towards min_member alone

  // What is asked of units comes on top of what is asked of roles; one member may serve both.
  std::vector<UnitSpec> units;

  TopologyRequest topology;  // of all members

  // Of a gang whose queue gives quota before there are pods; its members are not charged one by one. Null: of others,
  // and of one whose job has ended: what it had is free.
  MaybeShared<QuotaTerms> quota;

  // The gang has a place for its minimum, promises included, before it is said to be admitted; then pods adopt them.
  std::vector<PromisedMembers> promised;
  // What that takes. Where it takes no places, promises say what the gang asks for and get none.
  Fit fit = Fit::kNodes;

  std::optional<ResourceList> min_resources;  // what admission asks of the queue at least
  std::string queue;                          // its name; empty: no queue
  std::string queue_dialect;                  // whose queue that is; empty: the gang's own dialect's
  // More queues, of other trees and of the same dialect, that its members are charged to as well. All have to have room
  // for it; the line in which it stands is that of `queue`.
  std::vector<std::string> further_queues;
  std::optional<int32_t> priority;  // overrides the members'
  int32_t priority_slope = 0;       // GangRank::slope
  // Other queues take nothing back of it before it has run so long. It can only shorten the time that its queue or the
  // configuration says (QueueSpec::min_runtime_ms); where neither says one, it counts for an hour at most.
  std::optional<base::Millis> min_runtime_ms;
  bool goes_whole = false;            // it is evicted as a whole or not at all, also what is above its minimum
  base::Millis start_timeout_ms = 0;  // how long a half-started gang may be repaired; 0: the configured time
  base::Millis soft_after_ms = 0;     // once its minimum has waited so long its members start one by one; 0: never
  // What declares the gang ends it at that instant (wall time), or once it has run so long; 0: no such limit.
  base::Millis ends_ms = 0, run_limit_ms = 0;
  std::string remark;                 // a sentence about its minimum for who reads that it waits; empty: none

  // Why the gang cannot be considered at all ("PodGroup \"a\" has minMember -1; it must be at least 1"), or empty.
  // While it is set every member waits with this reason; bound members are left alone.
  std::string problem;
  friend bool operator==(const GangSpec&, const GangSpec&) = default;
};

}  // namespace tutti::model
