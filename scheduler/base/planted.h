// SPDX-License-Identifier: Apache-2.0
// Planted: bugs that only the tests of the tests can switch on (tests/negative). In the product it is a constant false,
// and the compiler takes its uses out.
#pragma once

namespace tutti::base {

enum class Bug {
  kNone,
  kSkipReservation,  // a planned member's room is not held
  kForgetToWake,     // a pod that leaves wakes nobody
  kBelieveForgery,   // a bind annotation counts whoever it was written for
  kUndoWhole,        // a restarted scheduler takes every gang it finds for half done
  kLastIsNotLast,    // the commit member is bound with the others
  kForgetCharge,     // a reserved member weighs nothing on its queue
  kPlanUnsynced,     // decides before every kind is listed
  kKeepHalf,         // the repair never times out
  kSleepOn,          // nothing that happens in the cluster wakes anybody
  kStaleFigures,     // a reason's figures are never brought up to date
  kForgetDeclared,   // what has a declaration and no pods is nothing
};

#ifdef TUTTI_PLANTED
inline Bug planted = Bug::kNone;
inline bool Planted(Bug bug) { return planted == bug; }
#else
constexpr bool Planted(Bug) { return false; }
#endif

}  // namespace tutti::base
