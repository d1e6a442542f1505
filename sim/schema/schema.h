// SPDX-License-Identifier: Apache-2.0
// sim/schema/schema.h - openAPIV3Schema of custom resources: defaulting, pruning, validation.
//
// A schema may refer to a built-in type, as a definition of our own does that embeds pods
// (sim/schema/builtin_schema.h).
//
// Not evaluated: patterns, CEL rules (x-kubernetes-validations), oneOf/anyOf/allOf/not.
#pragma once

#include <string>
#include <vector>

#include "sim/objects/api_error.h"
#include "sim/objects/object.h"

namespace tutti::sim {

// `known`, which may be null, is an object that was pruned, defaulted and validated by the same schema. What the other
// object shares with it (base::IsShared) is not looked at again.

// Drops what the schema does not know, and returns the paths dropped.
std::vector<std::string> PruneUnknown(const Json& schema, Json& object, const Json* known = nullptr);

// Fills in `default`s; a null where the schema does not allow one counts as absent, and goes.
void ApplyDefaults(const Json& said, Json& value, const Json* known = nullptr);

// `object` is the whole custom resource; metadata, apiVersion and kind are not looked at.
void ValidateAgainst(const Json& schema, const Json& object, std::vector<FieldError>& errors,
                     const Json* known = nullptr);

}  // namespace tutti::sim
