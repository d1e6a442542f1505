// SPDX-License-Identifier: Apache-2.0
// JSON as text, of strings that may hold anything.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace tutti::base {

// Appends `text` as a JSON string; what is not UTF-8 in it is replaced.
void AppendQuoted(std::string_view text, std::string* to);

// The value on one line, as its own dump() has it; what is not UTF-8 is replaced.
void AppendJson(const Json& value, std::string* to);
std::string PrintJson(const Json& value);
std::string PrintOrdered(const nlohmann::ordered_json& value);

// On lines of their own, indented by two, as dump(2) has it; what is not UTF-8 is replaced.
void AppendIndented(const nlohmann::ordered_json& value, size_t indent, std::string* to);

}  // namespace tutti::base
