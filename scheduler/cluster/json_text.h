// SPDX-License-Identifier: Apache-2.0
// JSON from any author: parsed so that nothing done with it later, by recursion, can overflow a stack.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace tutti::cluster {

// More than any schema has. The API server takes ten thousand in an object, and an annotation may hold a hundred
// thousand.
inline constexpr size_t kDeepestJson = 500;

// How deeply arrays and objects are nested; of text that is no JSON, at least as deeply as a parser would go.
size_t JsonDepth(std::string_view text);

// Where the array or object ends that `text` begins with; npos when it does not.
size_t EndOfJson(std::string_view text);

// A discarded value when `text` is no JSON; what is nested deeper than kDeepestJson is left out.
base::Json ParseJson(std::string_view text);

// The same of an API object, of a list, or of a watch event. Leaves out metadata.managedFields: they are up to half of
// an object, and nothing here reads them.
base::Json ParseObject(std::string_view text);

}  // namespace tutti::cluster
