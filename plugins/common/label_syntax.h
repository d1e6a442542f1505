// SPDX-License-Identifier: Apache-2.0
// Checks names, label keys and label values as Kubernetes does (k8s.io/apimachinery pkg/util/validation).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::plugins {

// Accepts at most 253 characters of [a-z0-9.-]; each part begins and ends with a letter or digit.
bool IsDnsSubdomain(std::string_view text);
// Accepts [prefix/]name: a DNS subdomain, and 1-63 characters of [A-Za-z0-9._-] that begin and end with a letter or
// digit.
bool IsQualifiedName(std::string_view text);
// Accepts an empty text, or one like the name above.
bool IsLabelValue(std::string_view text);
// Reads a whole decimal int64, as Go's strconv.ParseInt does.
std::optional<int64_t> ParseInteger(std::string_view text);

}  // namespace tutti::plugins
