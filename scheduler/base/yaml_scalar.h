// SPDX-License-Identifier: Apache-2.0
// What an unquoted scalar of YAML stands for, as Kubernetes' own reader has it.
//
// That is YAML 1.1 as Go's yaml.v2 has it: yes/no/on/off/y/n are booleans, 010 is eight, 1e3 and 1.0 are whole numbers,
// 1_000 is a thousand, dates are strings.
#pragma once

#include <optional>
#include <string>

#include "base/json_fwd.h"

namespace tutti::base {

// Returns a null, a boolean, a number, or the text itself. Empty: it is no JSON value, such as .inf.
std::optional<Json> PlainScalar(const std::string& text);

}  // namespace tutti::base
