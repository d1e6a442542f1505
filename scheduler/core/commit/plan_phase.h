// SPDX-License-Identifier: Apache-2.0
// PlanPhase: how the phases of a plan follow one another.
//
//   kHeld → kVictimsLeave → kPreparing → (promises) kAdmitted → kBinding → kLastBind → (whole) kFilling
//     any of them but kFilling → kUndoing, which nothing leaves: Committer::Undo is where it begins
//
// Each phase but kUndoing follows from facts alone, so a plan goes back too: a member that is refused by its node and
// placed again puts its plan from kLastBind to kPreparing.
#pragma once

#include "core/gangs/gang.h"

namespace tutti::core {

struct PlanFacts {
  bool whole = false;         // the gang is, or was
  bool may_start = false;     // its minimum has a place, and is known
  bool victims_gone = false;  // nothing is in the way any more
  bool prepared = false;      // every Preparation of every placed member is done
  bool awaits_pods = false;   // some placed member that is to start with the others has no pod yet
  bool others_open = false;   // some member but the last is not bound
};

constexpr Plan::Phase NextPhase(Plan::Phase now, const PlanFacts& facts) {
  using enum Plan::Phase;
  if (now == kUndoing) return kUndoing;
  if (facts.whole) return kFilling;
  if (!facts.may_start) return kHeld;
  if (!facts.victims_gone) return kVictimsLeave;
  if (!facts.prepared) return kPreparing;
  if (facts.awaits_pods) return kAdmitted;
  return facts.others_open ? kBinding : kLastBind;
}

}  // namespace tutti::core
