// SPDX-License-Identifier: Apache-2.0
// Reason: why a gang, or the rest of one, waits, as structure. Sentences are rendered from it (observe/wording.h), and
// never read back.
//
// Names stand as they are in the cluster. Amounts are in the resource's own unit, as in ResourceList. What is a name
// and what is a figure is told in SameButFigures: a new name is another reason, a new figure is not.
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

// What must have a place together, by parts.
struct Minimum {
  struct Role {
    std::string name;
    int64_t min = 0;
    int64_t have = 0;   // of these have a place, or ran
    int64_t exist = 0;  // have one, or could be given one
    friend bool operator==(const Role&, const Role&) = default;
  };
  struct Units {
    std::string name;
    int64_t size = 1, min = 0;  // so many units, of so many members each
    int64_t exist = 0;          // units that are there as a whole
    friend bool operator==(const Units&, const Units&) = default;
  };
  int64_t members = 0, have = 0, exist = 0;
  std::vector<Role> roles;  // with a minimum, sorted by name
  std::vector<Units> units;
  friend bool operator==(const Minimum&, const Minimum&) = default;
};

// How a gang that was whole stands.
struct Standing {
  bool whole = true;
  int64_t have = 0, members = 0;     // else: so many of its minimum
  std::vector<Minimum::Role> roles;  // and those that lack members
  friend bool operator==(const Standing&, const Standing&) = default;
};

// Too few members exist.
struct LacksMembers {
  bool head_missing = false;
  int64_t gated = 0, deleting = 0;                         // held back by scheduling gates; being deleted
  std::vector<std::pair<std::string, int64_t>> strangers;  // schedulers, and how many more pods name each
  friend bool operator==(const LacksMembers&, const LacksMembers&) = default;
};
// Members of a whole gang start together, `size` of the role or in the unit, and so many of them lack.
struct LacksPart {
  std::string of;
  bool unit = false;  // else a role
  int64_t size = 0, lacks = 0;
  friend bool operator==(const LacksPart&, const LacksPart&) = default;
};
// No head of a whole gang is at work, and other members wait for one.
struct NoHead {
  enum class Until { kExists, kAtWork, kPlaced } until = Until::kExists;
  std::string pod;  // the head that is there; empty: none is
  friend bool operator==(const NoHead&, const NoHead&) = default;
};
// Some of the minimum of a gang that was whole find no place, and come first.
struct BelowMinimum {
  friend bool operator==(const BelowMinimum&, const BelowMinimum&) = default;
};
// The queue, or one above it, does not admit them.
struct QueueRefuses {
  struct Cell {
    std::string queue, resource;
    int64_t limit = 0, used = 0, asked = 0;
    int64_t over() const;  // short by so much
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  std::string problem;            // it cannot be used at all; then no cell is short
  std::vector<Cell> cells;        // those that are short, leaf first
  int64_t starting = 1;           // members that were to start
  bool by_min_resources = false;  // they ask for less than the gang's minResources, which count
  friend bool operator==(const QueueRefuses&, const QueueRefuses&) = default;
};
// No nodes for all that is needed.
struct LacksNodes {
  bool gave_up = false;                    // the search was cut off
  std::shared_ptr<const Figures> figures;  // shared by all that wait by one search; null: of a lone pod
  std::optional<NearestDomain> nearest;    // of what asks for topology
  model::NodeRefusals refusals;            // of the first that found no node
  friend bool operator==(const LacksNodes&, const LacksNodes&) = default;
};
// Its minResources exceed what all nodes together have free.
struct LacksMinResources {
  std::string resource;
  int64_t asked = 0, free = 0;
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
// It has its places, and volumes of its members are still to be bound.
struct PreparingVolumes {
  int64_t open = 0;
  friend bool operator==(const PreparingVolumes&, const PreparingVolumes&) = default;
};
// Its start failed, and what is bound of it has to go.
struct BeingUndone {
  friend bool operator==(const BeingUndone&, const BeingUndone&) = default;
};
// Its declaration cannot be followed.
struct Problem {
  std::string text;
  friend bool operator==(const Problem&, const Problem&) = default;
};

using Cause = std::variant<Problem, LacksMembers, LacksPart, NoHead, BelowMinimum, QueueRefuses, LacksNodes,
                           LacksMinResources, BindRefused, ExtenderFailed, PreparingVolumes, BeingUndone>;

struct Reason {
  std::string ns = {}, gang = {};
  bool lone = false;                              // of one pod: only its own words are said
  Minimum minimum = {};                           // what waits
  std::shared_ptr<const Standing> standing = {};  // it waits besides what a gang that was whole has; null: to start
  std::string remark = {};                        // GangSpec::remark
  Cause cause = {};
  // Figures are compared by identity: equal ones may be said to differ.
  friend bool operator==(const Reason&, const Reason&) = default;
};

// Of how many searches like the one behind these figures the reason speaks: members of a whole gang that are alike are
// searched for once.
int64_t TimesSearched(const Reason& reason, const Figures& figures);

// What a member is told of the nodes, beside the gang's sentence.
struct NodesNews {
  enum class Kind {
    kOfGang,     // what the gang is told
    kFits,       // it fits, and waits for others
    kOfMember,   // why this member finds no node
    kOfAnother,  // why another member finds none
  } kind = Kind::kOfGang;
  const std::vector<std::string>* waits_for = nullptr;  // kFits: for these roles; then `refusals` is null
  const model::NodeRefusals* refusals = nullptr;        // null: nothing more is said
};

// A member, by what it is told.
struct Listener {
  model::ClassId pod_class;
  std::string_view role;
};
NodesNews NewsFor(Listener member, const Reason& reason);

// The state of a gang that waits for this reason.
GangState StateOf(const Reason& reason);

// They differ in figures alone: names, kinds and what is said of them are the same.
bool SameButFigures(const Reason& a, const Reason& b);

// The same of what a member is told, which may be less than the whole.
bool SameButFigures(const Reason& a, Listener of_a, const Reason& b, Listener of_b);

}  // namespace tutti::observe
