// SPDX-License-Identifier: Apache-2.0
#include "sim/objects/api_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_string.h"
#include "sim/objects/resources.h"

namespace tutti::sim {
namespace {

Json DetailsOf(const GroupResource& resource, std::string_view name) {
  Json details = {{"kind", resource.resource}};
  if (!name.empty()) details["name"] = name;
  if (!resource.group.empty()) details["group"] = resource.group;
  return details;
}

}  // namespace

Json ApiError::ToStatus() const {
  Json status = {{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
                 {"status", "Failure"}, {"message", message}, {"reason", reason},
                 {"code", code}};
  if (!details.is_null()) status["details"] = details;
  return status;
}

FieldError RequiredField(std::string field, std::string_view detail) {
  return {std::move(field), "FieldValueRequired",
          detail.empty() ? "Required value" : fmt::format("Required value: {}", detail)};
}

FieldError InvalidField(std::string field, const Json& value, std::string_view detail) {
  return {std::move(field), "FieldValueInvalid", fmt::format("Invalid value: {}: {}", base::PrintJson(value), detail)};
}

FieldError ForbiddenField(std::string field, std::string_view detail) {
  return {std::move(field), "FieldValueForbidden", fmt::format("Forbidden: {}", detail)};
}

FieldError DuplicateField(std::string field, const Json& value) {
  return {std::move(field), "FieldValueDuplicate", fmt::format("Duplicate value: {}", base::PrintJson(value))};
}

FieldError MissingField(std::string field, const Json& value) {
  return {std::move(field), "FieldValueNotFound", fmt::format("Not found: {}", base::PrintJson(value))};
}

FieldError TypeInvalidField(std::string field, const Json& value, std::string_view detail) {
  return {std::move(field), "FieldValueTypeInvalid",
          fmt::format("Invalid value: {}: {}", base::PrintJson(value), detail)};
}

FieldError TooManyField(std::string field, size_t count, int64_t most) {
  return {std::move(field), "FieldValueTooMany",
          fmt::format("Too many: {}: must have at most {} item{}", count, most, most == 1 ? "" : "s")};
}

FieldError TooLongField(std::string field, int64_t most) {
  return {std::move(field), "FieldValueTooLong", fmt::format("Too long: may not be more than {} bytes", most)};
}

FieldError UnsupportedField(std::string field, const Json& value, const std::vector<std::string>& supported) {
  std::vector<std::string> quoted;
  for (const std::string& each : supported) quoted.push_back(base::PrintJson(Json(each)));
  return {std::move(field), "FieldValueNotSupported",
          fmt::format("Unsupported value: {}: supported values: {}", base::PrintJson(value), fmt::join(quoted, ", "))};
}

ApiError BadRequest(std::string message) { return {400, "BadRequest", std::move(message), nullptr}; }

ApiError Forbidden(const GroupResource& resource, std::string_view name, std::string_view why) {
  return {403, "Forbidden", fmt::format("{} \"{}\" is forbidden: {}", resource.ToString(), name, why),
          DetailsOf(resource, name)};
}

ApiError NotFound(const GroupResource& resource, std::string_view name) {
  return {404, "NotFound", fmt::format("{} \"{}\" not found", resource.ToString(), name), DetailsOf(resource, name)};
}

ApiError PathNotFound() {
  return {404, "NotFound", "the server could not find the requested resource", Json::object()};
}

ApiError MethodNotAllowed() {
  return {405, "MethodNotAllowed", "the server does not allow this method on the requested resource", Json::object()};
}

ApiError NotAcceptable(std::string message) { return {406, "NotAcceptable", std::move(message), nullptr}; }

ApiError AlreadyExists(const GroupResource& resource, std::string_view name) {
  return {409, "AlreadyExists", fmt::format("{} \"{}\" already exists", resource.ToString(), name),
          DetailsOf(resource, name)};
}

ApiError Conflict(const GroupResource& resource, std::string_view name, std::string_view why) {
  return {409, "Conflict",
          fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", resource.ToString(), name, why),
          DetailsOf(resource, name)};
}

ApiError Modified(const GroupResource& resource, std::string_view name) {
  return Conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version and try again");
}

ApiError Expired(std::string message) { return {410, "Expired", std::move(message), nullptr}; }

ApiError UnsupportedMediaType(std::string message) {
  return {415, "UnsupportedMediaType", std::move(message), nullptr};
}

ApiError Invalid(std::string_view group, std::string_view kind, std::string_view name,
                 const std::vector<FieldError>& errors) {
  std::vector<std::string> texts;
  Json causes = Json::array();
  for (const FieldError& error : errors) {
    texts.push_back(fmt::format("{}: {}", error.field, error.message));
    causes.push_back({{"field", error.field}, {"reason", error.reason}, {"message", error.message}});
  }
  const std::string all = texts.size() == 1 ? texts[0] : fmt::format("[{}]", fmt::join(texts, ", "));
  const std::string what = group.empty() ? std::string(kind) : fmt::format("{}.{}", kind, group);
  Json details = {{"kind", kind}, {"causes", std::move(causes)}};
  if (!name.empty()) details["name"] = name;
  if (!group.empty()) details["group"] = group;
  return {422, "Invalid", fmt::format("{} \"{}\" is invalid: {}", what, name, all), std::move(details)};
}

ApiError InternalError(std::string message) {
  return {500, "InternalError", fmt::format("Internal error occurred: {}", message), nullptr};
}

}  // namespace tutti::sim
