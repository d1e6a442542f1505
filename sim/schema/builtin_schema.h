// SPDX-License-Identifier: Apache-2.0
// sim/schema/builtin_schema.h - the types of the built-in kinds: which fields there are, and of
// what JSON type.
//
// A real API server decodes a request into Go structs. Here the same facts are a table
// (sim/schema/type_table.h), so that what cannot be decoded is refused in the same words, and
// unknown fields are found, reported and dropped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/objects/object.h"
#include "sim/objects/resources.h"

namespace tutti::sim {

struct DecodeResult {
  std::vector<std::string> unknown_fields;  // "spec.containers[0].imagee"
  std::string error;                        // "" when it can be decoded
  std::string path;                         // of the field that cannot: "spec.containers"
  std::string wanted;                       // what it must be: "a list"
};

// Checks `object` against its kind's type and drops what the type does not know. Kinds
// without a type in the table pass as they are.
DecodeResult DecodeBuiltin(const ApiResource& resource, Json& object);

// "" for kinds without a type.
std::string BuiltinTypeName(const ApiResource& resource);

// OpenAPI schemas of that type and of all it refers to, by name, added to `schemas`.
// References read "#/components/schemas/NAME".
void AddBuiltinSchemas(const std::string& type, Json& schemas);

// The type that a custom resource's schema names by such a reference, as a schema itself: a definition that embeds
// pods says so in one line. Null for any other text.
const Json* BuiltinSchema(const std::string& reference);

// What the field (or, with `field` "", the type) is for; "" when nothing is written about it.
std::string_view DescriptionOf(const std::string& type, const std::string& field);

}  // namespace tutti::sim
