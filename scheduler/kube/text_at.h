// SPDX-License-Identifier: Apache-2.0
// Text in answers of the API server, whose types are not to be relied on.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace tutti::kube {

// Returns the string at `key`; "" if `object` is no object, or has no string there.
inline std::string TextAt(const base::Json& object, std::string_view key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

}  // namespace tutti::kube
