// SPDX-License-Identifier: Apache-2.0
#include "sim/schema/type_table.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace tutti::sim {
namespace {

int Number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

const TypeTable& TypeTable::Get() {
  static const TypeTable table(kBuiltinTypes);
  return table;
}

const Type* TypeTable::Find(const std::string& name) const {
  const auto it = types_.find(name);
  return it == types_.end() ? nullptr : &it->second;
}

TypeTable::TypeTable(std::string_view text) {
  std::map<std::string, std::string> bodies;
  std::string* body = nullptr;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const size_t colon = line.find(':');
    if (line.starts_with("  ")) {
      *body += line.substr(1);
    } else if (colon != std::string_view::npos) {
      body = &bodies[std::string(line.substr(0, colon))];
      *body = line.substr(colon + 1);
    }
  }
  // All names first: types refer to each other by address.
  for (const auto& [name, _] : bodies) types_[name].name = name;
  for (const auto& [name, fields] : bodies) AddFields(types_[name], fields);
}

// name=2! *type, name=2.19 type
void TypeTable::AddFields(Type& type, std::string_view text) const {
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    const size_t equals = part.find('=');
    const size_t space = part.find(' ');
    if (equals == std::string_view::npos || space == std::string_view::npos) continue;
    Field field;
    field.name = part.substr(0, equals);
    std::string_view numbers = part.substr(equals + 1, space - equals - 1);
    field.required = numbers.ends_with('!');
    if (const size_t dot = numbers.find('.'); dot != std::string_view::npos) {
      field.outer = Number(numbers.substr(0, dot));
      numbers.remove_prefix(dot + 1);
    }
    field.number = Number(numbers);
    field.type = Parse(part.substr(space + 1));
    type.fields.push_back(std::move(field));
  }
  std::sort(type.fields.begin(), type.fields.end(), [](const Field& a, const Field& b) { return a.name < b.name; });
}

TypeRef TypeTable::Parse(std::string_view text) const {
  static const std::map<std::string_view, Shape> shapes = {{"any", Shape::kAny},
                                                           {"string", Shape::kString},
                                                           {"bool", Shape::kBool},
                                                           {"int32", Shape::kInt32},
                                                           {"int64", Shape::kInt64},
                                                           {"bytes", Shape::kBytes},
                                                           {"raw", Shape::kRaw},
                                                           {"time", Shape::kTime},
                                                           {"microtime", Shape::kMicroTime},
                                                           {"quantity", Shape::kQuantity},
                                                           {"int-or-string", Shape::kIntOrString}};
  TypeRef ref;
  ref.pointer = text.starts_with('*');
  if (ref.pointer) text.remove_prefix(1);
  if (text.starts_with("[]") || text.starts_with("{}")) {
    ref.shape = text[0] == '[' ? Shape::kList : Shape::kMap;
    ref.element = std::make_shared<const TypeRef>(Parse(text.substr(2)));
  } else if (const auto it = shapes.find(text); it != shapes.end()) {
    ref.shape = it->second;
  } else {
    ref.shape = Shape::kStruct;
    ref.type = Find(std::string(text));
  }
  return ref;
}

}  // namespace tutti::sim
