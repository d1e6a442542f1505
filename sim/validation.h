// SPDX-License-Identifier: Apache-2.0
// sim/validation.h - what makes an object unacceptable, whatever its kind, and for
// the built-in kinds other than pods.
#pragma once

#include <string>
#include <vector>

#include "sim/api_error.h"
#include "sim/object.h"
#include "sim/resources.h"

namespace tutti::sim {

// Parts whose JSON type everything else relies on: metadata and its maps and lists, spec, status.
std::vector<FieldError> ShapeErrors(const Json& object);

void ValidateMetadata(const ApiResource& resource, const Json& object, const Json* current,
                      std::vector<FieldError>& errors);

// Kinds with rules of their own. `current` is null on create.
void ValidateKind(const ApiResource& resource, const Json& object, const Json* current,
                  std::vector<FieldError>& errors);

bool IsDnsLabel(std::string_view text);      // RFC 1123, at most 63
bool IsDnsSubdomain(std::string_view text);  // RFC 1123, at most 253
bool IsLabelValue(std::string_view text);
bool IsQualifiedName(std::string_view text);  // a label or annotation key

}  // namespace tutti::sim
