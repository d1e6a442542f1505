// SPDX-License-Identifier: Apache-2.0
// Fields of JSON that may have any shape. What is absent, or of another type, is nothing: null, "" or 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace tutti::dialects::kueue {

const base::Json& Field(const base::Json& object, std::string_view key);
std::string TextIn(const base::Json& object, std::string_view key);
int64_t NumberIn(const base::Json& object, std::string_view key);
// The list, or an empty one.
const base::Json& ListIn(const base::Json& object, std::string_view key);
const base::Json& AsList(const base::Json& value);

}  // namespace tutti::dialects::kueue
