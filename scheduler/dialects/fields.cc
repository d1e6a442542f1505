// SPDX-License-Identifier: Apache-2.0
#include "dialects/fields.h"

#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "dialects/declaration.h"

namespace tutti::dialects {

using base::Json;

namespace {

// Without a copy: of conditions there may be thousands.
bool IsText(const Json& value, std::string_view text) {
  const auto* const is = value.get_ptr<const Json::string_t*>();
  return is && *is == text;
}

}  // namespace

const Json& Field(const Json& object, std::string_view key) {
  static const Json none;
  const auto* const fields = object.get_ptr<const Json::object_t*>();  // Json::find would give a copy its own array
  if (!fields) return none;
  const auto at = fields->find(key);
  return at == fields->end() ? none : at->second;
}

std::string TextIn(const Json& object, std::string_view key) {
  const Json& value = Field(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

int64_t CountIn(const Json& object, std::string_view key) {
  const Json& value = Field(object, key);
  if (!value.is_number_integer()) return 0;
  // nlohmann keeps what is beyond INT64_MAX as unsigned; get<int64_t> would wrap it.
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(kLargestCount)) return kLargestCount;
  return std::clamp<int64_t>(value.get<int64_t>(), 0, kLargestCount);
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

base::Millis TimeIn(const Json& object, std::string_view key) {
  const auto time = base::ParseTime(TextIn(object, key));
  return time ? *time : 0;
}

const Json& AsList(const Json& value) {
  static const Json none = Json::array();
  return value.is_array() ? value : none;
}

const Json& ListIn(const Json& object, std::string_view key) { return AsList(Field(object, key)); }

GroupVersion SplitVersion(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  if (slash == api_version.npos) return {{}, api_version};
  return {api_version.substr(0, slash), api_version.substr(slash + 1)};
}

const Json* FindCondition(const Json& conditions, std::string_view type) {
  for (const Json& condition : AsList(conditions))
    if (IsText(Field(condition, "type"), type)) return &condition;
  return nullptr;
}

const Json* FindTrue(const Json& conditions, std::string_view type) {
  const Json* condition = FindCondition(conditions, type);
  return condition && IsText(Field(*condition, "status"), "True") ? condition : nullptr;
}

}  // namespace tutti::dialects
