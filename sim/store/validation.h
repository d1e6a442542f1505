// SPDX-License-Identifier: Apache-2.0
// sim/store/validation.h - what makes an object unacceptable, whatever its kind, and for
// the built-in kinds other than pods.
#pragma once

#include <string>
#include <vector>

#include "sim/objects/api_error.h"
#include "sim/objects/object.h"
#include "sim/objects/resources.h"

namespace tutti::sim {

// What of metadata everything else relies on: its maps and lists are such.
std::vector<FieldError> ShapeErrors(const Json& object);

void ValidateMetadata(const ApiResource& resource, const Json& object, const Json* current,
                      std::vector<FieldError>& errors);

// Kinds with rules of their own. `current` is null on create.
void ValidateKind(const ApiResource& resource, const Json& object, const Json* current,
                  std::vector<FieldError>& errors);

// Kubernetes' words for what the functions below refuse.
inline constexpr const char* kDnsSubdomainText =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
inline constexpr const char* kDnsLabelText =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
inline constexpr const char* kLabelValueText =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
inline constexpr const char* kQualifiedNameText =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
inline constexpr const char* kLabelKeyText =
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
    "'example.com/MyName')";

bool IsDnsLabel(std::string_view text);      // RFC 1123, at most 63
bool IsDnsSubdomain(std::string_view text);  // RFC 1123, at most 253
bool IsLabelValue(std::string_view text);
bool IsQualifiedName(std::string_view text);  // a label or annotation key

}  // namespace tutti::sim
