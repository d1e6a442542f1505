// SPDX-License-Identifier: Apache-2.0
// sim/schema/field_validation.h - ?fieldValidation=Ignore|Warn|Strict: what becomes of fields
// that the resource's schema does not know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/objects/api_error.h"
#include "sim/objects/resources.h"

namespace tutti::sim {

// 400 with the unknown fields where `mode` is Strict; their names for a Warning header where it is Warn or "", the
// default; "" otherwise. `object` may be a merge patch. Also 400 for a field of a built-in
// kind whose JSON type cannot be decoded into it.
ApiResult<std::string> CheckFields(std::string_view mode, const ApiResource& resource, const std::string& version,
                                   const Json& object);
// As under Strict, which is what kubectl asks for.
ApiResult<void> CheckFieldsStrictly(const ApiResource& resource, const std::string& version, const Json& object);

// The fields that there are where the unknown field "spec.containers[0].imagee" stands; empty: any, or not known.
std::vector<std::string_view> FieldsBeside(const ApiResource& resource, const std::string& version,
                                           std::string_view path);

}  // namespace tutti::sim
