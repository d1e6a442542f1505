// SPDX-License-Identifier: Apache-2.0
// GangState: the state of a gang: it runs, or it waits for something.
#pragma once

#include <string_view>

namespace tutti::observe {

enum class GangState {
  kWaitingForMembers,  // fewer members exist than its minimum
  kWaitingForQueue,    // its queue is full, closed, missing or invalid
  kWaitingForNodes,    // no placement exists for its minimum now
  kInvalid,            // GangSpec::problem
  kAdmitted,           // its minimum has places, and pods of it are still to be made
  kBinding,            // a plan is being carried out
  kTerminating,        // bound members are being deleted, the others are fewer than its minimum, and no member waits
  kWhole,              // every required member is bound to an existing node and not failed
  kFinished,           // every member ended
};

// Returns the state as one word: "waiting-for-members", ..., "whole".
std::string_view Word(GangState state);

}  // namespace tutti::observe
