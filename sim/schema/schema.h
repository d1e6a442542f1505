// SPDX-License-Identifier: Apache-2.0
// sim/schema/schema.h - openAPIV3Schema of custom resources, as an ObjectSchema.
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

#include "sim/objects/object_schema.h"
#include "sim/schema/schema_node.h"

namespace tutti::sim {

// Its JSON is read when the schema is first asked: most definitions of a cluster have no object.
class Schema final : public ObjectSchema {
 public:
  explicit Schema(Json json) : json_(std::move(json)) {}

  const Json& json() const override { return json_; }
  std::vector<std::string> Prune(Json& object, const Json* known = nullptr) const override;
  void FillIn(Json& object, const Json* known = nullptr) const override;
  void Validate(const Json& object, std::vector<FieldError>& errors, const Json* known = nullptr) const override;

 private:
  const SchemaNode& root() const;

  const Json json_;
  mutable std::once_flag read_;
  mutable std::optional<SchemaTree> tree_;
};

}  // namespace tutti::sim
