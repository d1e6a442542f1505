// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/args.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/json.h"
#include "base/json_string.h"

namespace tutti::plugins {
namespace {

template <typename T>
struct Kind;
template <>
struct Kind<int64_t> {
  static constexpr std::string_view kWhat = "a whole number";
  static bool Is(const base::Json& v) { return v.is_number_integer(); }
};
template <>
struct Kind<bool> {
  static constexpr std::string_view kWhat = "true or false";
  static bool Is(const base::Json& v) { return v.is_boolean(); }
};
template <>
struct Kind<std::string> {
  static constexpr std::string_view kWhat = "a string";
  static bool Is(const base::Json& v) { return v.is_string(); }
};
template <>
struct Kind<std::vector<std::string>> {
  static constexpr std::string_view kWhat = "a list of strings";
  static bool Is(const base::Json& v) {
    return v.is_array() && std::ranges::all_of(v, [](const base::Json& item) { return item.is_string(); });
  }
};

constexpr std::string_view kVersion = "kubescheduler.config.k8s.io/v1";

}  // namespace

base::Status CheckFields(const base::Json& object, std::string_view path,
                         std::initializer_list<std::string_view> fields) {
  if (object.is_null()) return {};
  if (!object.is_object()) return base::Invalid(fmt::format("{}: must be an object", path));
  const bool whole = path.ends_with("Args");
  for (const auto& [field, value] : object.items()) {
    if (std::ranges::find(fields, field) != fields.end()) continue;
    if (whole && (field == "apiVersion" || field == "kind")) {
      const std::string_view wanted = field == "kind" ? path : kVersion;
      if (value == wanted) continue;
      return base::Invalid(
          fmt::format("{}.{}: {} is not known here; write {}", path, field, base::PrintJson(value), wanted));
    }
    return base::Invalid(fmt::format("{}: unknown field \"{}\"; known are {}", path, field, fmt::join(fields, ", ")));
  }
  return {};
}

base::Status CheckList(const base::Json& object, std::string_view path, const char* field) {
  if (!object.is_object()) return {};
  const auto at = object.find(field);
  if (at == object.end() || at->is_null() || at->is_array()) return {};
  return base::Invalid(fmt::format("{}.{}: must be a list", path, field));
}

template <typename T>
base::Result<T> Field(const base::Json& object, std::string_view path, const char* field, T absent) {
  if (!object.is_object()) return absent;
  const auto at = object.find(field);
  if (at == object.end() || at->is_null()) return absent;
  if (!Kind<T>::Is(*at)) return base::Invalid(fmt::format("{}.{}: must be {}", path, field, Kind<T>::kWhat));
  return at->get<T>();
}

template base::Result<int64_t> Field(const base::Json&, std::string_view, const char*, int64_t);
template base::Result<bool> Field(const base::Json&, std::string_view, const char*, bool);
template base::Result<std::string> Field(const base::Json&, std::string_view, const char*, std::string);
template base::Result<std::vector<std::string>> Field(const base::Json&, std::string_view, const char*,
                                                      std::vector<std::string>);

}  // namespace tutti::plugins
