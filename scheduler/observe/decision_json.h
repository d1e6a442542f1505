// SPDX-License-Identifier: Apache-2.0
// Decision records as JSON, for /debug/decisions and other programs.
#pragma once

#include "base/json_fwd.h"
#include "observe/decision.h"

namespace tutti::observe {

nlohmann::ordered_json ToJson(const Decision& decision);
// {"sequence": N, "decisions": [...], "gone": [{"dialect", "namespace", "name"}]}, in the order given.
nlohmann::ordered_json ToJson(const DecisionChanges& changes);

}  // namespace tutti::observe
