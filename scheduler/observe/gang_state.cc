// SPDX-License-Identifier: Apache-2.0
#include "observe/gang_state.h"

#include "observe/decision.h"

namespace tutti::observe {

std::string_view Word(GangState state) {
  switch (state) {
    case GangState::kWaitingForMembers: return "waiting-for-members";
    case GangState::kWaitingForQueue: return "waiting-for-queue";
    case GangState::kWaitingForNodes: return "waiting-for-nodes";
    case GangState::kInvalid: return "invalid";
    case GangState::kAdmitted: return "admitted";
    case GangState::kBinding: return "binding";
    case GangState::kTerminating: return "terminating";
    case GangState::kWhole: return "whole";
    case GangState::kFinished: return "finished";
  }
  return "unknown";
}

std::string_view Word(QuotaDecision::State state) {
  using State = QuotaDecision::State;
  switch (state) {
    case State::kPending: return "pending";
    case State::kReserved: return "reserved";
    case State::kAdmitted: return "admitted";
    case State::kEvicted: return "evicted";
    case State::kFinished: return "finished";
  }
  return "unknown";
}

}  // namespace tutti::observe
