// SPDX-License-Identifier: Apache-2.0
// Single fields of objects and statuses of any author.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/json_fwd.h"

namespace tutti::dialects {

// Text, a count, a time; what is not there, or is another thing, is empty, or 0.
std::string TextIn(const base::Json& object, const char* key);
int64_t CountIn(const base::Json& object, const char* key);
base::Millis TimeIn(const base::Json& object, const char* key);

}  // namespace tutti::dialects
