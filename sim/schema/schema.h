// SPDX-License-Identifier: Apache-2.0
// sim/schema/schema.h - openAPIV3Schema of custom resources: defaulting, pruning, validation.
//
// A schema may refer to a built-in type, as a definition of our own does that embeds pods
// (sim/schema/builtin_schema.h).
//
// Not evaluated: patterns, CEL rules (x-kubernetes-validations), oneOf/anyOf/allOf/not.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/objects/api_error.h"
#include "sim/objects/object.h"
#include "sim/schema/schema_node.h"

namespace tutti::sim {

// `known`, which may be null, is an object that was pruned, defaulted and validated by the same schema. What the other
// object shares with it (base::IsShared) is not looked at again.
//
// Its JSON is read when the schema is first asked: most definitions of a cluster have no object.
//
// Thread safety: const members may be called by many threads.
class Schema {
 public:
  explicit Schema(Json json) : json_(std::move(json)) {}

  const Json& json() const { return json_; }

  // Drops what the schema does not know, and returns the paths dropped.
  std::vector<std::string> Prune(Json& object, const Json* known = nullptr) const;

  // Fills in `default`s; a null where the schema does not allow one counts as absent, and goes.
  void FillIn(Json& object, const Json* known = nullptr) const;

  // `object` is the whole custom resource; metadata, apiVersion and kind are not looked at.
  void Validate(const Json& object, std::vector<FieldError>& errors, const Json* known = nullptr) const;

 private:
  const SchemaNode& root() const;

  const Json json_;
  mutable std::once_flag read_;
  mutable std::optional<SchemaTree> tree_;
};

}  // namespace tutti::sim
