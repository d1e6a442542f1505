// SPDX-License-Identifier: Apache-2.0
// Reason: why a gang, or a part of one, waits, as structure. Sentences are rendered from it (observe/wording.h), and
// never parsed.
//
// Names are as in the cluster. Amounts are in the resource's own unit, as in ResourceList. SameButFigures tells names
// from figures: a new name makes another reason, a new figure does not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/ids.h"
#include "observe/figures.h"
#include "observe/gang_state.h"

namespace tutti::observe {

// The members that must have a place together, by parts.
struct Minimum {
  struct Role {
    std::string name;
    int64_t min = 0;
    int64_t have = 0;   // members that have a place, or ran
    int64_t exist = 0;  // members that have a place, or exist and could get one
    friend bool operator==(const Role&, const Role&) = default;
  };
  struct Units {
    std::string name;
    int64_t size = 1, min = 0;  // members of a unit; units of the minimum
    int64_t exist = 0;          // complete units
    friend bool operator==(const Units&, const Units&) = default;
  };
  int64_t members = 0, have = 0, exist = 0;
  std::vector<Role> roles;  // with a minimum, sorted by name
  std::vector<Units> units;
  friend bool operator==(const Minimum&, const Minimum&) = default;
};

// The state of a gang that was whole once.
struct Standing {
  bool whole = true;
  int64_t have = 0, members = 0;     // if it is not whole: how many of its minimum it has
  std::vector<Minimum::Role> roles;  // and the roles that lack members
  friend bool operator==(const Standing&, const Standing&) = default;
};

// Too few members exist.
struct LacksMembers {
  bool head_missing = false;
  int64_t gated = 0, deleting = 0;                         // members with scheduling gates; members being deleted
  std::vector<std::pair<std::string, int64_t>> strangers;  // other schedulers, and how many pods name each
  friend bool operator==(const LacksMembers&, const LacksMembers&) = default;
};
// Members of a whole gang must start together, `size` of the role or unit, and `lacks` of them do not exist.
struct LacksPart {
  std::string of;
  bool unit = false;  // else a role
  int64_t size = 0, lacks = 0;
  friend bool operator==(const LacksPart&, const LacksPart&) = default;
};
// A whole gang has no head at work, and other members wait for one.
struct NoHead {
  enum class Until { kExists, kAtWork, kPlaced } until = Until::kExists;
  std::string pod;  // the existing head; empty: there is none
  friend bool operator==(const NoHead&, const NoHead&) = default;
};
// Members of the minimum of a gang that was whole find no place, and they come first.
struct BelowMinimum {
  friend bool operator==(const BelowMinimum&, const BelowMinimum&) = default;
};
// Pods of a whole gang are being evicted for another one, and others come to it only once those have left.
struct GivesWay {
  friend bool operator==(const GivesWay&, const GivesWay&) = default;
};
// The queue, or one above it, does not admit the members.
struct QueueRefuses {
  struct Cell {
    std::string queue, resource;
    int64_t limit = 0, used = 0, asked = 0;
    int64_t over() const;  // Returns how much is short.
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  // What a limit is.
  enum class Limit {
    kCapability,      // what the queue's declaration caps it by
    kRealCapability,  // that, less what is kept free for the guarantees of others
    kDeserved,        // its share of the cluster, as of now
  };
  Limit limit = Limit::kCapability;
  std::string problem;            // why the queue cannot be used at all; then `cells` is empty
  std::vector<Cell> cells;        // the cells that are short, leaf first
  int64_t starting = 1;           // members that should start
  bool by_min_resources = false;  // the members ask for less than the gang's minResources, so those count
  friend bool operator==(const QueueRefuses&, const QueueRefuses&) = default;
};
std::string_view Word(QueueRefuses::Limit limit);  // "capability", "realCapability", "deserved"
// Why no pod of lower priority is evicted for a pod that finds no node.
struct PreemptionRefused {
  std::string not_eligible;  // why it may not preempt, or must wait, in kube-scheduler's words; empty: no node would do
  model::NodeRefusals refusals;  // by the nodes, without their pods of lower priority
  friend bool operator==(const PreemptionRefused&, const PreemptionRefused&) = default;
};
// Its queue gives quota before there are pods, and the gang has none, or may not use it yet.
struct AwaitsQuota {
  enum class Stage {
    kLine,    // it stands in line
    kChecks,  // it has quota, and is placed on nodes once others have agreed
    kLeaves,  // it gives back what it has, once its pods are gone
  } stage = Stage::kLine;
  std::string queue, why;  // `why`: as the queue's rule says it
  friend bool operator==(const AwaitsQuota&, const AwaitsQuota&) = default;
};
// There are not enough nodes for all members that are needed.
struct LacksNodes {
  bool gave_up = false;                    // the search was cut off
  std::shared_ptr<const Figures> figures;  // shared by all gangs that the same search refused; null for a lone pod
  std::optional<NearestDomain> nearest;    // for a gang with a rule of topology
  model::NodeRefusals refusals;            // of the first member that found no node
  std::optional<PreemptionRefused> preemption = {};  // of a lone pod
  friend bool operator==(const LacksNodes&, const LacksNodes&) = default;
};
// Its minResources exceed what all nodes together have free; or what its pods ask for does, where only that is asked.
struct LacksMinResources {
  std::string resource;
  int64_t asked = 0, free = 0;
  bool of_pods = false;  // it is what its pods ask for
  friend bool operator==(const LacksMinResources&, const LacksMinResources&) = default;
};
struct BindRefused {
  std::string pod, why;
  friend bool operator==(const BindRefused&, const BindRefused&) = default;
};
// An extender that may not be ignored failed.
struct ExtenderFailed {
  std::string failure;
  friend bool operator==(const ExtenderFailed&, const ExtenderFailed&) = default;
};
// All members have places, and some volumes are still to be bound.
struct PreparingVolumes {
  int64_t open = 0;
  friend bool operator==(const PreparingVolumes&, const PreparingVolumes&) = default;
};
// It has its places, and pods that are evicted for it have still to leave them.
struct AwaitsVictims {
  std::vector<std::string> pods;   // "ns/name", sorted
  std::vector<std::string> nodes;  // that they leave, sorted
  friend bool operator==(const AwaitsVictims&, const AwaitsVictims&) = default;
};
// Its minimum has places, and some of it has no pod yet; the minimum's `exist` are those that have one.
struct AwaitsPods {
  friend bool operator==(const AwaitsPods&, const AwaitsPods&) = default;
};
// Its start failed, and its bound members are being evicted.
struct BeingUndone {
  friend bool operator==(const BeingUndone&, const BeingUndone&) = default;
};
// Its declaration is invalid.
struct Problem {
  std::string text;
  friend bool operator==(const Problem&, const Problem&) = default;
};

using Cause = std::variant<Problem, LacksMembers, LacksPart, NoHead, BelowMinimum, GivesWay, QueueRefuses, AwaitsQuota,
                           LacksNodes, LacksMinResources, BindRefused, ExtenderFailed, PreparingVolumes, AwaitsVictims,
                           AwaitsPods, BeingUndone>;

struct Reason {
  std::string ns = {}, gang = {};
  bool lone = false;                              // a lone pod: only the sentence about its nodes is shown
  Minimum minimum = {};                           // the members that wait
  std::shared_ptr<const Standing> standing = {};  // the gang was whole and more members wait; null: it waits to start
  std::string remark = {};                        // GangSpec::remark
  Cause cause = {};
  // Compares figures by identity, so that equal figures may count as different.
  friend bool operator==(const Reason&, const Reason&) = default;
};

// Returns for how many equal searches these figures stand: for equal members of a whole gang there is one search.
int64_t TimesSearched(const Reason& reason, const Figures& figures);

// The part about the nodes that a member's message has beside the gang's sentence.
struct NodesNews {
  enum class Kind {
    kOfGang,     // the gang's own sentence about the nodes
    kFits,       // it fits, and waits for others
    kOfMember,   // why this member finds no node
    kOfAnother,  // why another member finds none
  } kind = Kind::kOfGang;
  const std::vector<std::string>* waits_for = nullptr;  // kFits: the roles that it waits for; `refusals` is then null
  const model::NodeRefusals* refusals = nullptr;        // null: there is nothing more to say
};

// A member, as far as its message depends on it.
struct Listener {
  model::ClassId pod_class;
  std::string_view role;
};
NodesNews NewsFor(Listener member, const Reason& reason);

// Returns the state of a gang that waits for this reason.
GangState StateOf(const Reason& reason);

// Whether the two reasons differ in figures only: names, kinds and clauses are the same.
bool SameButFigures(const Reason& a, const Reason& b);

// Whether the messages of the two members differ in figures only. They may have less than the whole reason.
bool SameButFigures(const Reason& a, Listener of_a, const Reason& b, Listener of_b);

}  // namespace tutti::observe
