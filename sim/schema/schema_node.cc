// SPDX-License-Identifier: Apache-2.0
#include "sim/schema/schema_node.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "sim/schema/builtin_schema.h"

namespace tutti::sim {
namespace {

SchemaNode::Type TypeOf(std::string_view name) {
  using Type = SchemaNode::Type;
  static constexpr std::pair<std::string_view, Type> kTypes[] = {
      {"", Type::kAny},           {"object", Type::kObject}, {"array", Type::kArray},    {"string", Type::kString},
      {"boolean", Type::kBoolean}, {"number", Type::kNumber}, {"integer", Type::kInteger}};
  const auto at = std::ranges::find(kTypes, name, &std::pair<std::string_view, Type>::first);
  return at == std::end(kTypes) ? Type::kOther : at->second;
}

std::optional<int64_t> CountOf(const Json& schema, const char* keyword) {
  const Json& count = Child(schema, keyword);
  return count.is_number_integer() ? std::optional(count.get<int64_t>()) : std::nullopt;
}

Json NumberOf(const Json& schema, const char* keyword) {
  const Json& number = Child(schema, keyword);
  return number.is_number() ? number : Json();
}

}  // namespace

const SchemaNode* SchemaNode::Property(std::string_view key) const {
  const auto at = std::ranges::lower_bound(properties, key, {}, [](const auto& each) -> std::string_view {
    return each.first;
  });
  return at != properties.end() && at->first == key ? at->second : nullptr;
}

// Types refer to each other, and each is read when a definition first refers to it. They are never freed.
class SchemaTree::BuiltinTypes {
 public:
  // Returns null where `reference` names no built-in type.
  static const SchemaNode* Find(const std::string& reference) {
    const Json* schema = BuiltinSchema(reference);
    if (schema == nullptr) return nullptr;
    static BuiltinTypes types;
    const std::lock_guard lock(types.mutex_);  // a type's members may refer to types
    std::unique_ptr<SchemaTree>& tree = types.trees_[schema];
    if (tree == nullptr) {
      tree = std::make_unique<SchemaTree>(Json());
      types.Fill(*schema, *tree);
    }
    return tree->root_;
  }

 private:
  static void Fill(const Json& schema, SchemaTree& tree) { tree.Fill(schema, tree.nodes_.front()); }

  std::recursive_mutex mutex_;
  std::map<const Json*, std::unique_ptr<SchemaTree>> trees_;
};

const SchemaNode* SchemaTree::Read(const Json& schema) {
  if (const SchemaNode* type = BuiltinTypes::Find(DigString(schema, "$ref"))) return type;
  SchemaNode& node = nodes_.emplace_back();
  Fill(schema, node);
  return &node;
}

void SchemaTree::Fill(const Json& schema, SchemaNode& node) {
  node.type_name = DigString(schema, "type");
  node.type = TypeOf(node.type_name);
  node.nullable = BoolOf(Child(schema, "nullable"));
  node.int_or_string = BoolOf(Child(schema, "x-kubernetes-int-or-string"));
  node.int32 = DigString(schema, "format") == "int32";
  node.embeds = BoolOf(Child(schema, "x-kubernetes-embedded-resource"));
  const Json& additional = Child(schema, "additionalProperties");
  node.preserves = BoolOf(Child(schema, "x-kubernetes-preserve-unknown-fields")) || BoolOf(additional);
  if (additional.is_object()) node.additional = Read(additional);
  if (const Json& items = Child(schema, "items"); items.is_object()) node.items = Read(items);
  for (const auto& [name, property] : MapOf(Child(schema, "properties")).items()) {
    if (!property.is_object()) continue;
    node.properties.emplace_back(name, Read(property));
    if (const Json& fallback = Child(property, "default"); !fallback.is_null())
      node.defaults.emplace_back(name, fallback);
  }
  for (const Json& name : ArrayOf(Child(schema, "required"))) node.required.push_back(StringOf(name));
  node.minimum = NumberOf(schema, "minimum");
  node.maximum = NumberOf(schema, "maximum");
  node.min_length = CountOf(schema, "minLength");
  node.max_length = CountOf(schema, "maxLength");
  node.min_items = CountOf(schema, "minItems");
  node.max_items = CountOf(schema, "maxItems");
  node.min_properties = CountOf(schema, "minProperties");
  node.max_properties = CountOf(schema, "maxProperties");
  if (const Json& allowed = Child(schema, "enum"); allowed.is_array())
    node.allowed.emplace(allowed.begin(), allowed.end());
}

}  // namespace tutti::sim
