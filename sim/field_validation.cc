// SPDX-License-Identifier: Apache-2.0
#include "sim/field_validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/builtin_schema.h"
#include "sim/schema.h"

namespace tutti::sim {
namespace {

ApiError Refusal(const ApiResource& resource, const std::string& version, const std::string& why) {
  return BadRequest(
      fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", resource.kind, version, resource.kind, why));
}

// "unknown field ..." for each. 400 for a field of a built-in kind that cannot be decoded.
ApiResult<std::vector<std::string>> UnknownFields(const ApiResource& resource, const std::string& version,
                                                  Json object) {
  std::vector<std::string> unknown;
  if (resource.custom) {
    const ApiVersion* served = resource.FindVersion(version);
    if (served && served->schema) unknown = PruneUnknown(*served->schema, object);
  } else {
    DecodeResult decoded = DecodeBuiltin(resource, object);
    if (!decoded.error.empty()) return tl::make_unexpected(Refusal(resource, version, decoded.error));
    unknown = std::move(decoded.unknown_fields);
  }
  for (std::string& field : unknown) field = fmt::format("unknown field \"{}\"", field);
  return unknown;
}

}  // namespace

ApiResult<std::string> CheckFields(const HttpRequest& request, const ApiResource& resource, const std::string& version,
                                   const Json& object) {
  const std::string mode = request.Param("fieldValidation");
  if (mode == "Strict") {
    if (auto checked = CheckFieldsStrictly(resource, version, object); !checked)
      return tl::make_unexpected(checked.error());
    return "";
  }
  const auto words = UnknownFields(resource, version, object);
  if (!words) return tl::make_unexpected(words.error());
  return mode == "Ignore" ? "" : fmt::format("{}", fmt::join(*words, "\n"));
}

ApiResult<void> CheckFieldsStrictly(const ApiResource& resource, const std::string& version, const Json& object) {
  const auto words = UnknownFields(resource, version, object);
  if (!words) return tl::make_unexpected(words.error());
  if (words->empty()) return {};
  return tl::make_unexpected(
      Refusal(resource, version, fmt::format("strict decoding error: {}", fmt::join(*words, ", "))));
}

}  // namespace tutti::sim
