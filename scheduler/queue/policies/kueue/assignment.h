// SPDX-License-Identifier: Apache-2.0
// Assignment: which flavor each resource of a gang's roles is to come from, and what is in the way.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/gang_ask.h"
#include "model/resource_list.h"
#include "queue/policies/kueue/share_tree.h"

namespace tutti::queue {

// From worst to best.
enum class Fit {
  kNone,      // there is not so much, or the queue may not preempt for it
  kPreempt,   // it fits the quota once others have left
  kDeferred,  // it fits once victims of others have left
  kNow,
};

// Why a gang has no quota: Kueue's reasons of the condition QuotaReserved.
enum class WaitReason {
  kNone,
  kTopologyPlacementFailed,
  kWaitingForQuota,
  kExceedsMaxQuota,
  kNoMatchingFlavor,  // the ones up to here in the order of their severity
  kWaitingForPreemptedWorkloads,
  kMisconfigured,
  kNoQueue,  // the queue that it names is not there: the word is kMisconfigured's
  kSuspended,
  kPendingEvaluation,
};
std::string WordOf(WaitReason reason);

struct WaitExplanation {
  WaitReason reason = WaitReason::kPendingEvaluation;
  std::string message;
  friend bool operator==(const WaitExplanation&, const WaitExplanation&) = default;
};

struct FlavorPick {
  std::string flavor;
  CellId cell;
  Fit fit = Fit::kNow;
  int borrowing = 0;  // ShareTree::LowestFit::height
  int tried = -1;     // the last flavor of the group that was looked at; -1: all were
};

struct RoleAssignment {
  std::string name;
  int64_t count = 0;
  model::ResourceList requests;             // of all `count`
  std::map<std::string, FlavorPick> picks;  // by resource
  std::vector<std::string> obstacles;       // what a flavor has too little of, or why it is none
  std::vector<CellId> short_cells;          // of the obstacles

  Fit fit() const;
};

// Where the search for flavors goes on: by role and resource, the last one that was looked at.
using FlavorProgress = std::vector<std::map<std::string, int>>;
// Tells whether some role has flavors that were not looked at.
bool LeavesFlavors(const FlavorProgress& progress);
// Tells whether every role that went on where it stood has come to its last flavor. Others may have some left by then,
// and so on without end.
bool HasGoneRound(const FlavorProgress& before, const FlavorProgress& now);

struct Assignment {
  std::vector<RoleAssignment> roles;
  CellAmounts usage;  // what it takes besides what the gang that it replaces has
  CellAmounts total;
  int borrowing = 0;  // the highest of its picks
  WaitReason no_fit = WaitReason::kNone;
  bool deferred = false;

  Fit fit() const;
  // What is in the way, role by role; empty: nothing.
  std::string Message() const;
  FlavorProgress Progress() const;
  // Cells of which others would have to leave.
  std::vector<CellId> CellsToPreempt() const;
  std::vector<CellId> ShortCells() const;
  // All that it takes something of.
  std::vector<CellId> Cells() const;
};

// Adds to one of the amounts.
void AddTo(CellAmounts& amounts, CellId cell, int64_t amount);
int64_t AmountOf(const CellAmounts& amounts, CellId cell);

}  // namespace tutti::queue
