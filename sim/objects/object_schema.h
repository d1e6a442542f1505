// SPDX-License-Identifier: Apache-2.0
// sim/objects/object_schema.h - what a definition says of its objects: defaulting, pruning, validation.
#pragma once

#include <string>
#include <vector>

#include "sim/objects/api_error.h"
#include "sim/objects/object.h"

namespace tutti::sim {

// `known`, which may be null, is an object that was pruned, defaulted and validated by the same schema. What the other
// object shares with it (base::IsShared) is not looked at again.
//
// Thread safety: const members may be called by many threads.
class ObjectSchema {
 public:
  virtual ~ObjectSchema() = default;

  // The openAPIV3Schema, as the definition has it.
  virtual const Json& json() const = 0;

  // Drops what the schema does not know, and returns the paths dropped.
  virtual std::vector<std::string> Prune(Json& object, const Json* known = nullptr) const = 0;

  // Fills in `default`s; a null where the schema does not allow one counts as absent, and goes.
  virtual void FillIn(Json& object, const Json* known = nullptr) const = 0;

  // `object` is the whole custom resource; metadata, apiVersion and kind are not looked at.
  virtual void Validate(const Json& object, std::vector<FieldError>& errors, const Json* known = nullptr) const = 0;
};

}  // namespace tutti::sim
