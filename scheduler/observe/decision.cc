// SPDX-License-Identifier: Apache-2.0
#include "observe/decision.h"

namespace tutti::observe {

std::string_view Word(dialects::GangState state) {
  switch (state) {
    case dialects::GangState::kWaitingForMembers: return "waiting-for-members";
    case dialects::GangState::kWaitingForQueue: return "waiting-for-queue";
    case dialects::GangState::kWaitingForNodes: return "waiting-for-nodes";
    case dialects::GangState::kInvalid: return "invalid";
    case dialects::GangState::kBinding: return "binding";
    case dialects::GangState::kTerminating: return "terminating";
    case dialects::GangState::kWhole: return "whole";
    case dialects::GangState::kFinished: return "finished";
  }
  return "unknown";
}

}  // namespace tutti::observe
