// SPDX-License-Identifier: Apache-2.0
// sim/objects/api_error.h - what the API server answers when it refuses: metav1.Status.
//
// Codes, reasons and wording are Kubernetes' own, because clients branch on the
// first two and people search for the third.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "sim/objects/object.h"

namespace tutti::sim {

struct GroupResource;

struct ApiError {
  int code = 0;         // HTTP status
  std::string reason;   // "Conflict", "NotFound", ...
  std::string message;  // for people
  Json details;         // {name, group, kind, causes, ...}; null when there are none

  // The body of the HTTP answer.
  Json ToStatus() const;
};

template <class T>
using ApiResult = tl::expected<T, ApiError>;

// One thing wrong with an object: where, and what.
struct FieldError {
  std::string field;    // "spec.containers[0].image"
  std::string reason;   // "FieldValueRequired", "FieldValueInvalid", ...
  std::string message;  // "Required value", "Invalid value: -1: must be ..."
};
FieldError RequiredField(std::string field, std::string_view detail = "");
FieldError InvalidField(std::string field, const Json& value, std::string_view detail);
FieldError ForbiddenField(std::string field, std::string_view detail);
FieldError DuplicateField(std::string field, const Json& value);
FieldError MissingField(std::string field, const Json& value);  // what it names does not exist
FieldError TypeInvalidField(std::string field, const Json& value, std::string_view detail);
FieldError TooManyField(std::string field, size_t count, int64_t most);
FieldError TooLongField(std::string field, int64_t most);
FieldError UnsupportedField(std::string field, const Json& value, const std::vector<std::string>& supported);

inline tl::unexpected<ApiError> Refuse(ApiError error) { return tl::make_unexpected(std::move(error)); }

ApiError BadRequest(std::string message);                                                        // 400
ApiError Forbidden(const GroupResource& resource, std::string_view name, std::string_view why);  // 403
ApiError NotFound(const GroupResource& resource, std::string_view name);                         // 404
ApiError PathNotFound();                                                                         // 404
ApiError MethodNotAllowed();                                                                     // 405
ApiError NotAcceptable(std::string message);                                                     // 406
ApiError AlreadyExists(const GroupResource& resource, std::string_view name);                    // 409
ApiError Conflict(const GroupResource& resource, std::string_view name, std::string_view why);   // 409
ApiError Modified(const GroupResource& resource, std::string_view name);  // 409, stale resourceVersion
ApiError Expired(std::string message);                                    // 410
ApiError UnsupportedMediaType(std::string message);                       // 415
ApiError Invalid(std::string_view group, std::string_view kind, std::string_view name,
                 const std::vector<FieldError>& errors);  // 422
ApiError InternalError(std::string message);              // 500

}  // namespace tutti::sim
