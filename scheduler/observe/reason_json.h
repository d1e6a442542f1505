// SPDX-License-Identifier: Apache-2.0
// Renders a reason as JSON: an object with "kind" and the fields of that kind. docs/pages.md lists them.
#pragma once

#include "base/json_fwd.h"
#include "observe/reason.h"

namespace tutti::observe {

nlohmann::ordered_json ToJson(const Reason& reason);

}  // namespace tutti::observe
