// SPDX-License-Identifier: Apache-2.0
// What Kubernetes accepts as names, label keys and label values (k8s.io/apimachinery pkg/util/validation).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::plugins {

// [a-z0-9.-], at most 253, each part beginning and ending with a letter or digit.
bool IsDnsSubdomain(std::string_view text);
// [prefix/]name: a DNS subdomain and 1-63 of [A-Za-z0-9._-] beginning and ending with a letter or digit.
bool IsQualifiedName(std::string_view text);
// Empty, or as the name above.
bool IsLabelValue(std::string_view text);
// A whole decimal int64 as Go's strconv.ParseInt reads it.
std::optional<int64_t> ParseInteger(std::string_view text);

}  // namespace tutti::plugins
