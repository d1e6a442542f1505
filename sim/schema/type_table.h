// SPDX-License-Identifier: Apache-2.0
// sim/schema/type_table.h - the types of the built-in kinds, read once from sim/schema/builtin_types.cc.
//
// Immutable after the first use; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tutti::sim {

extern const char kBuiltinTypes[];

enum class Shape {
  kAny,
  kString,
  kBool,
  kInt32,
  kInt64,
  kBytes,
  kRaw,  // any JSON; on the wire a message with the JSON text
  kQuantity,
  kTime,
  kMicroTime,
  kIntOrString,
  kStruct,
  kList,
  kMap,
};

struct Type;

struct TypeRef {
  Shape shape = Shape::kAny;
  bool pointer = false;                         // absent and zero differ
  const Type* type = nullptr;                   // of a struct
  std::shared_ptr<const TypeRef> element = {};  // of a list or map
};

struct Field {
  std::string name;  // in JSON
  int outer = 0;     // protobuf number of the message it is inlined from; 0: none
  int number = 0;    // protobuf number; 0: not on the wire
  bool required = false;
  TypeRef type;
};

struct Type {
  std::string name;
  std::vector<Field> fields;  // by name
};

class TypeTable {
 public:
  static const TypeTable& Get();

  // Null when there is none of that name.
  const Type* Find(const std::string& name) const;
  const std::unordered_map<std::string, Type>& All() const { return types_; }

 private:
  explicit TypeTable(std::string_view text);
  void AddFields(Type& type, std::string_view text) const;
  TypeRef Parse(std::string_view text) const;

  std::unordered_map<std::string, Type> types_;
};

}  // namespace tutti::sim
