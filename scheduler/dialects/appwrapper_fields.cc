// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper_fields.h"

#include <algorithm>

#include "base/json.h"
#include "dialects/declaration.h"

namespace tutti::dialects {

using base::Json;

std::string TextIn(const Json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

int64_t CountIn(const Json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  if (at == object.end() || !at->is_number_integer()) return 0;
  if (at->is_number_unsigned() && at->get<uint64_t>() > static_cast<uint64_t>(kLargestCount)) return kLargestCount;
  return std::clamp<int64_t>(at->get<int64_t>(), 0, kLargestCount);
}

base::Millis TimeIn(const Json& object, const char* key) {
  const auto time = base::ParseTime(TextIn(object, key));
  return time ? *time : 0;
}

}  // namespace tutti::dialects
