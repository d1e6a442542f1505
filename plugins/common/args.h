// SPDX-License-Identifier: Apache-2.0
// What plugins share in reading their pluginConfig args: strict, as kube-scheduler's decoder is.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace tutti::plugins {

// Fails for a value that is neither null nor an object, and for a field that is not in `fields`. Where `path`, which
// begins the message, is the args' kind alone, they may say that kind, and kube-scheduler's apiVersion.
base::Status CheckFields(const base::Json& object, std::string_view path,
                         std::initializer_list<std::string_view> fields);

// Fails for a field that is there and is neither null nor a list.
base::Status CheckList(const base::Json& object, std::string_view path, const char* field);

// The field as T, or `absent` when it is missing or null. Fails with "path.field: must be a <what>".
template <typename T>
base::Result<T> Field(const base::Json& object, std::string_view path, const char* field, T absent);

}  // namespace tutti::plugins
