// SPDX-License-Identifier: Apache-2.0
// JSON strings of text that may hold anything.
#pragma once

#include <string>
#include <string_view>

namespace tutti::base {

// Appends `text` as a JSON string; what is not UTF-8 in it is replaced.
void AppendQuoted(std::string_view text, std::string* to);

}  // namespace tutti::base
