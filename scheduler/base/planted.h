// SPDX-License-Identifier: Apache-2.0
// Planted: bugs that only the tests of the tests can switch on (tests/negative). In the product it is a constant false,
// and the compiler takes its uses out.
#pragma once

#include <cstdint>

namespace tutti::base {

enum class Bug {
  kNone,
  kSkipReservation,    // a planned member's room is not held
  kForgetToWake,       // some of what happens wakes no gang: see Forgotten
  kBelieveForgery,     // a bind annotation counts, whichever pod it was written for
  kUndoWhole,          // a restarted scheduler takes every gang it finds for half done
  kLastIsNotLast,      // the commit member is bound with the others
  kForgetCharge,       // a reserved member weighs nothing on its queue
  kWakeNobody,         // room in a queue wakes no gang that waits for it
  kChargeTwice,        // what a member holds is charged to its queue a second time
  kPlanUnsynced,       // decides before every kind is listed
  kKeepHalf,           // the repair never times out
  kSleepOn,            // nothing that happens in the cluster wakes a gang
  kStaleFigures,       // a reason's figures are never brought up to date
  kForgetDeclared,     // what has a declaration and no pods is nothing
  kDropFence,          // a gang is undone though its last bind may still come
  kReusePlanId,        // each term numbers its plans as the one before
  kIgnoreVolumes,      // binds leave before their pods' volumes are bound
  kHeadless,           // a gang that was whole takes workers though none of its heads has a place
  kSurplusFirst,       // a gang that was whole takes members besides while some that it needs have no place
  kForgetUnlabelled,   // a member whose node has lost the label of a level counts for no rule
  kWasIsWhole,         // a gang that was whole is said to be, whatever it has lost
  kOldCondition,       // a condition that holds again keeps the time of when it first did
  kOldFigures,         // they are brought up to date, but not in time
  kForgetRan,          // members that have done their work do not count for the minimum
  kOneMoreFits,        // a reason says that one more fits than do
  kForgetVictims,      // a restarted scheduler does not read which pods were to leave for a gang
  kForgetVictimsRoom,  // the room of pods that leave for a gang is not held for it
  kCrowdOut,           // a gang is bound while pods that leave for it are still there
  kLoneVictimTooMany,  // for a lone pod one pod more is evicted than has to go
  kVictimsOfAll,       // pods of the preemptor's own priority are evicted, too
  kGangVictimTooMany,  // pods that a gang can do without are evicted for it, too
  kOldCensus,          // what is known of a gang's members is kept when one of their pods changes
  kWriteTwice,         // a desired object is written twice at a time
  kFreeTwice,          // what victims held of a queue is free when they go, though their gang has it already
  kIgnoreBudgets,      // no PodDisruptionBudget protects a pod
  kSpareHead,          // a head is surplus like any other member
};

#ifdef TUTTI_PLANTED
inline Bug planted = Bug::kNone;
inline bool Planted(Bug bug) { return planted == bug; }
inline uint32_t forgotten = 0;  // bits of framework::Wake
template <class Set>
Set Forgotten() {
  return Set(Planted(Bug::kForgetToWake) ? forgotten : 0);
}
#else
constexpr bool Planted(Bug) { return false; }
template <class Set>
constexpr Set Forgotten() {
  return Set(0);
}
#endif

}  // namespace tutti::base
