// SPDX-License-Identifier: Apache-2.0
// Decision records as JSON, for /debug/decisions and other programs.
#pragma once

#include <vector>

#include "base/json_fwd.h"
#include "observe/decision.h"

namespace tutti::observe {

nlohmann::ordered_json ToJson(const Decision& decision);
// {"decisions": [...]}, in the order given.
nlohmann::ordered_json ToJson(const std::vector<Decision>& decisions);

}  // namespace tutti::observe
