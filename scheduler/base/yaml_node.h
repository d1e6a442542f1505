// SPDX-License-Identifier: Apache-2.0
// A node that yaml-cpp has read, as JSON.
#pragma once

#include <yaml-cpp/node/node.h>

#include "base/json_fwd.h"
#include "base/result.h"

namespace tutti::base {

// Converts `node`; plain scalars are what PlainScalar makes of them, quoted ones strings. Error: nested too deeply, as
// what stands in itself is, too large with its aliases expanded, a key that is there twice, or no JSON value.
Result<Json> YamlToJson(const YAML::Node& node);

}  // namespace tutti::base
