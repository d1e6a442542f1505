// SPDX-License-Identifier: Apache-2.0
// Reads the args of plugins (pluginConfig) strictly, like kube-scheduler's decoder.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace tutti::plugins {

// Fails for a value that is neither null nor an object, and for a field that is not in `fields`. Messages begin with
// `path`. If `path` is only the args' kind, the object may also have that kind, and kube-scheduler's apiVersion.
base::Status CheckFields(const base::Json& object, std::string_view path,
                         std::initializer_list<std::string_view> fields);

// Fails for a field that is set and is neither null nor a list.
base::Status CheckList(const base::Json& object, std::string_view path, const char* field);

// Returns the field as T, or `absent` when it is missing or null. Fails with "path.field: must be a <what>".
template <typename T>
base::Result<T> Field(const base::Json& object, std::string_view path, const char* field, T absent);

}  // namespace tutti::plugins
