// SPDX-License-Identifier: Apache-2.0
#include "sim/schema/field_validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/schema/builtin_schema.h"
#include "sim/schema/schema.h"
#include "sim/schema/type_table.h"

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
    if (served && served->schema) unknown = served->schema->Prune(object);
  } else {
    DecodeResult decoded = DecodeBuiltin(resource, object);
    if (!decoded.error.empty()) return tl::make_unexpected(Refusal(resource, version, decoded.error));
    unknown = std::move(decoded.unknown_fields);
  }
  for (std::string& field : unknown) field = fmt::format("unknown field \"{}\"", field);
  return unknown;
}

// "spec.containers[0].image" without its last: {"spec", "containers", "[0]"}
std::vector<std::string_view> ParentSteps(std::string_view path) {
  std::vector<std::string_view> steps;
  while (!path.empty()) {
    const size_t end = std::min(path.find_first_of(".[", 1), path.size());
    steps.push_back(path.substr(0, end));
    path.remove_prefix(end);
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  if (!steps.empty()) steps.pop_back();
  return steps;
}

std::vector<std::string_view> BuiltinFieldsBelow(const ApiResource& resource,
                                                 const std::vector<std::string_view>& steps) {
  const Type* type = TypeTable::Get().Find(BuiltinTypeName(resource));
  TypeRef at{.shape = Shape::kStruct, .type = type};
  for (const std::string_view step : steps) {
    if (at.element) {
      at = TypeRef(*at.element);
      continue;
    }
    if (at.type == nullptr) return {};
    const auto field = std::ranges::find(at.type->fields, step, &Field::name);
    if (field == at.type->fields.end()) return {};
    at = field->type;
  }
  std::vector<std::string_view> names;
  if (at.type != nullptr && !at.element)
    for (const Field& field : at.type->fields) names.push_back(field.name);
  return names;
}

std::vector<std::string_view> CustomFieldsBelow(const Json& root, const std::vector<std::string_view>& steps) {
  const Json* at = &root;
  for (const std::string_view step : steps) {
    const Json* type = BuiltinSchema(DigString(*at, "$ref"));
    const Json& schema = type ? *type : *at;
    if (step.starts_with('['))
      at = &Child(schema, "items");
    else if (const Json& known = Child(MapOf(Child(schema, "properties")), std::string(step)); known.is_object())
      at = &known;
    else
      at = &Child(schema, "additionalProperties");
  }
  const Json* type = BuiltinSchema(DigString(*at, "$ref"));
  std::vector<std::string_view> names;
  for (const auto& [name, schema] : MapOf(Child(type ? *type : *at, "properties")).items()) names.push_back(name);
  return names;
}

}  // namespace

ApiResult<std::string> CheckFields(std::string_view mode, const ApiResource& resource, const std::string& version,
                                   const Json& object) {
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

std::vector<std::string_view> FieldsBeside(const ApiResource& resource, const std::string& version,
                                           std::string_view path) {
  const std::vector<std::string_view> steps = ParentSteps(path);
  if (!resource.custom) return BuiltinFieldsBelow(resource, steps);
  const ApiVersion* served = resource.FindVersion(version);
  return served && served->schema ? CustomFieldsBelow(served->schema->json(), steps) : std::vector<std::string_view>();
}

}  // namespace tutti::sim
