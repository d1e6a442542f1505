// SPDX-License-Identifier: Apache-2.0
// sim/api/json_path.h - the part of Kubernetes' JSONPath that printer columns use:
// .a.b, ['a.b'], [0], [*], [?(@.type=="Ready")].
#pragma once

#include <string_view>
#include <vector>

#include "sim/objects/object.h"

namespace tutti::sim {

// All that the path finds, in order; none when it finds nothing or does not parse.
std::vector<const Json*> FindPath(const Json& object, std::string_view path);

}  // namespace tutti::sim
