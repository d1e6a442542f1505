// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/fields.h"

namespace tutti::dialects::kueue {

using base::Json;

const Json& Field(const Json& object, std::string_view key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto at = object.find(key);
  return at == object.end() ? none : *at;
}

std::string TextIn(const Json& object, std::string_view key) {
  const Json& value = Field(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

int64_t NumberIn(const Json& object, std::string_view key) {
  const Json& value = Field(object, key);
  return value.is_number_integer() ? value.get<int64_t>() : 0;
}

const Json& AsList(const Json& value) {
  static const Json none = Json::array();
  return value.is_array() ? value : none;
}

const Json& ListIn(const Json& object, std::string_view key) { return AsList(Field(object, key)); }

}  // namespace tutti::dialects::kueue
