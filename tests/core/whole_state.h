// SPDX-License-Identifier: Apache-2.0
// All that a scheduler says, and all that it holds, as text: before a question and after it.
#pragma once

#include <fmt/format.h>

#include <string>

#include "observe/decision_json.h"
#include "rig.h"

namespace tutti::core {

inline std::string DecisionsOf(Rig& rig) {
  return observe::ToJson(observe::DecisionChanges{.decisions = rig.scheduler->Decisions()}).dump();
}

inline std::string WholeStateOf(Rig& rig) {
  rig.scheduler->Audit();
  const Scheduler::Footprint holds = rig.scheduler->Holds();
  return fmt::format("{} {} {} {} {} {} {} {}", DecisionsOf(rig), rig.scheduler->decision_sequence(),
                     rig.store.resource_version(), rig.scheduler->NextDeadline().value_or(0), holds.awaited,
                     holds.gangs, holds.timers, holds.shapes);
}

}  // namespace tutti::core
