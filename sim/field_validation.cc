// SPDX-License-Identifier: Apache-2.0
#include "sim/field_validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/builtin_schema.h"
#include "sim/schema.h"

namespace tutti::sim {

ApiResult<std::string> CheckFields(const HttpRequest& request, const ApiResource& resource, const std::string& version,
                                   const Json& object) {
  const auto refuse = [&](const std::string& why) {
    return tl::make_unexpected(BadRequest(
        fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", resource.kind, version, resource.kind, why)));
  };
  Json copy = object;
  std::vector<std::string> unknown;
  if (resource.custom) {
    const ApiVersion* served = resource.FindVersion(version);
    if (served && served->schema) unknown = PruneUnknown(*served->schema, copy);
  } else {
    DecodeResult decoded = DecodeBuiltin(resource, copy);
    if (!decoded.error.empty()) return refuse(decoded.error);
    unknown = std::move(decoded.unknown_fields);
  }
  const std::string mode = request.Param("fieldValidation");
  if (unknown.empty() || mode == "Ignore") return "";
  std::vector<std::string> words;
  for (const std::string& field : unknown) words.push_back(fmt::format("unknown field \"{}\"", field));
  if (mode == "Strict") return refuse(fmt::format("strict decoding error: {}", fmt::join(words, ", ")));
  return fmt::format("{}", fmt::join(words, "\n"));
}

}  // namespace tutti::sim
