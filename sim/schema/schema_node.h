// SPDX-License-Identifier: Apache-2.0
// sim/schema/schema_node.h - an openAPIV3Schema, read once: what it says of a value, and of the values within it.
//
// Objects are looked at at every write, and keywords are found by name in JSON: so they are read when the definition
// is. A reference to a built-in type (sim/schema/builtin_schema.h) is replaced by that type.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/objects/object.h"

namespace tutti::sim {

struct SchemaNode {
  enum class Type : uint8_t { kAny, kObject, kArray, kString, kBoolean, kNumber, kInteger, kOther };

  // Returns what is said of the member; null: nothing.
  const SchemaNode* Property(std::string_view key) const;
  const SchemaNode* Member(std::string_view key) const {
    const SchemaNode* property = Property(key);
    return property ? property : additional;
  }

  Type type = Type::kAny;
  std::string type_name;  // as the schema has it
  bool nullable = false, int_or_string = false, int32 = false;
  bool preserves = false;                  // members that it does not know
  bool embeds = false;                     // a whole object, with metadata
  const SchemaNode* items = nullptr;       // of a list; null: it says nothing
  const SchemaNode* additional = nullptr;  // of members that have no property
  std::vector<std::pair<std::string, const SchemaNode*>> properties;  // by name
  std::vector<std::string> required;
  std::vector<std::pair<std::string, Json>> defaults;  // of properties
  Json minimum, maximum;                               // null: none
  std::optional<int64_t> min_length, max_length, min_items, max_items, min_properties, max_properties;
  std::optional<std::vector<Json>> allowed;  // the values of an enum
};

// Owns the nodes of one schema.
class SchemaTree {
 public:
  explicit SchemaTree(const Json& schema) : root_(Read(schema)) {}
  SchemaTree(const SchemaTree&) = delete;
  SchemaTree& operator=(const SchemaTree&) = delete;

  const SchemaNode& root() const { return *root_; }

 private:
  class BuiltinTypes;

  const SchemaNode* Read(const Json& schema);
  void Fill(const Json& schema, SchemaNode& node);

  std::deque<SchemaNode> nodes_;  // they stay where they are
  const SchemaNode* root_;
};

}  // namespace tutti::sim
