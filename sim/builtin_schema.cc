// SPDX-License-Identifier: Apache-2.0
#include "sim/builtin_schema.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>

#include "sim/quantity_text.h"

namespace tutti::sim {
namespace {

enum class Shape { kAny, kString, kBool, kInt32, kInt64, kNumber, kQuantity, kTime, kIntOrString, kStruct, kList, kMap };

struct Type;

struct TypeRef {
  Shape shape = Shape::kAny;
  const Type* type = nullptr;        // of a struct
  std::shared_ptr<TypeRef> element;  // of a list or map
};

struct Field {
  std::string name;
  bool required;
  TypeRef type;
};

struct Type {
  std::string name;
  std::vector<Field> fields;  // by name
};

// The table, parsed once.
class Types {
 public:
  static const Types& Get() {
    static const Types types(kBuiltinTypes);
    return types;
  }

  const Type* Find(const std::string& name) const {
    const auto it = types_.find(name);
    return it == types_.end() ? nullptr : &it->second;
  }

 private:
  explicit Types(std::string_view text) {
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
    for (const auto& [name, _] : bodies) types_[name].name = name;
    for (const auto& [name, fields] : bodies) AddFields(types_[name], fields);
  }

  void AddFields(Type& type, std::string_view text) {
    while (!text.empty()) {
      const size_t comma = std::min(text.find(','), text.size());
      std::string_view part = text.substr(0, comma);
      text.remove_prefix(std::min(comma + 1, text.size()));
      while (part.starts_with(' ')) part.remove_prefix(1);
      const size_t space = part.find(' ');
      if (space == std::string_view::npos) continue;
      std::string name(part.substr(0, space));
      const bool required = name.back() == '!';
      if (required) name.pop_back();
      type.fields.push_back({std::move(name), required, Parse(part.substr(space + 1))});
    }
    std::sort(type.fields.begin(), type.fields.end(), [](const Field& a, const Field& b) { return a.name < b.name; });
  }

  TypeRef Parse(std::string_view text) const {
    static const std::map<std::string_view, Shape> shapes = {
        {"any", Shape::kAny},     {"string", Shape::kString},     {"bool", Shape::kBool},
        {"int32", Shape::kInt32}, {"int64", Shape::kInt64},       {"number", Shape::kNumber},
        {"time", Shape::kTime},   {"quantity", Shape::kQuantity}, {"int-or-string", Shape::kIntOrString}};
    if (text.starts_with("[]") || text.starts_with("{}")) {
      const Shape shape = text[0] == '[' ? Shape::kList : Shape::kMap;
      return {shape, nullptr, std::make_shared<TypeRef>(Parse(text.substr(2)))};
    }
    if (const auto it = shapes.find(text); it != shapes.end()) return {it->second, nullptr, nullptr};
    return {Shape::kStruct, Find(std::string(text)), nullptr};
  }

  std::map<std::string, Type> types_;
};

// --- Decoding ---

std::string GoName(const TypeRef& type) {
  switch (type.shape) {
    case Shape::kString: return "string";
    case Shape::kBool: return "bool";
    case Shape::kInt32: return "int32";
    case Shape::kInt64: return "int64";
    case Shape::kNumber: return "float64";
    case Shape::kTime: return "v1.Time";
    case Shape::kQuantity: return "resource.Quantity";
    case Shape::kIntOrString: return "intstr.IntOrString";
    case Shape::kStruct: return "v1." + type.type->name;
    case Shape::kList: return "[]" + GoName(*type.element);
    case Shape::kMap: return "map[string]" + GoName(*type.element);
    case Shape::kAny: break;
  }
  return "interface {}";
}

std::string JsonKind(const Json& value) {
  if (value.is_number_float()) return "number " + value.dump();
  if (value.is_number()) return "number";
  if (value.is_boolean()) return "bool";
  return value.type_name();
}

class Decoder {
 public:
  void Struct(const Type& type, Json& value, const std::string& go_path, const std::string& path) {
    auto field = type.fields.begin();
    for (auto it = value.begin(); it != value.end() && result.error.empty();) {
      while (field != type.fields.end() && field->name < it.key()) ++field;
      const std::string at = path.empty() ? it.key() : path + "." + it.key();
      if (field == type.fields.end() || field->name != it.key()) {
        result.unknown_fields.push_back(at);
        it = value.erase(it);
        continue;
      }
      struct_name_ = &type.name;
      Value(field->type, *it, go_path.empty() ? it.key() : go_path + "." + it.key(), at);
      ++it;
    }
  }

  DecodeResult result;

 private:
  void Value(const TypeRef& type, Json& value, const std::string& go_path, const std::string& path) {
    if (value.is_null()) return;
    switch (type.shape) {
      case Shape::kStruct:
        if (!value.is_object()) return Mismatch(type, value, go_path);
        return Struct(*type.type, value, go_path, path);
      case Shape::kList:
        return List(type, value, go_path, path);
      case Shape::kMap:
        if (!value.is_object()) return Mismatch(type, value, go_path);
        for (auto& [key, member] : value.items()) Value(*type.element, member, go_path, path + "." + key);
        return;
      default:
        return Scalar(type, value, go_path);
    }
  }

  void List(const TypeRef& type, Json& value, const std::string& go_path, const std::string& path) {
    if (!value.is_array()) return Mismatch(type, value, go_path);
    for (size_t i = 0; i < value.size() && result.error.empty(); ++i) {
      Value(*type.element, value[i], go_path, fmt::format("{}[{}]", path, i));
    }
  }

  void Scalar(const TypeRef& type, const Json& value, const std::string& go_path) {
    bool good = true;
    switch (type.shape) {
      case Shape::kString: good = value.is_string(); break;
      case Shape::kBool: good = value.is_boolean(); break;
      case Shape::kNumber: good = value.is_number(); break;
      case Shape::kInt64: good = value.is_number_integer(); break;
      case Shape::kInt32: good = value.is_number_integer() && value <= INT32_MAX && value >= INT32_MIN; break;
      case Shape::kIntOrString: good = value.is_number_integer() || value.is_string(); break;
      case Shape::kTime:
        good = value.is_string();
        if (good && !base::ParseTime(StringOf(value))) {
          Fail(fmt::format("parsing time {} as \"2006-01-02T15:04:05Z07:00\": cannot parse {} as \"2006\"", value.dump(),
                           value.dump()));
        }
        break;
      case Shape::kQuantity:
        if (!CanonicalQuantity(value)) {
          Fail("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
        }
        break;
      default: break;
    }
    if (!good) Mismatch(type, value, go_path);
  }

  void Mismatch(const TypeRef& type, const Json& value, const std::string& go_path) {
    Fail(fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", JsonKind(value), *struct_name_,
                     go_path, GoName(type)));
  }

  void Fail(std::string error) {
    if (result.error.empty()) result.error = std::move(error);
  }

  const std::string* struct_name_ = nullptr;
};

// --- OpenAPI ---

Json SchemaOf(const TypeRef& type) {
  switch (type.shape) {
    case Shape::kString: return {{"type", "string"}};
    case Shape::kBool: return {{"type", "boolean"}};
    case Shape::kInt32: return {{"type", "integer"}, {"format", "int32"}};
    case Shape::kInt64: return {{"type", "integer"}, {"format", "int64"}};
    case Shape::kNumber: return {{"type", "number"}};
    case Shape::kTime: return {{"type", "string"}, {"format", "date-time"}};
    case Shape::kQuantity: return {{"$ref", "#/components/schemas/Quantity"}};
    case Shape::kIntOrString: return {{"$ref", "#/components/schemas/IntOrString"}};
    case Shape::kStruct: return {{"$ref", "#/components/schemas/" + type.type->name}};
    case Shape::kList: return {{"type", "array"}, {"items", SchemaOf(*type.element)}};
    case Shape::kMap: return {{"type", "object"}, {"additionalProperties", SchemaOf(*type.element)}};
    case Shape::kAny: break;
  }
  return {{"type", "object"}};
}

const Type* ReferredBy(const TypeRef& type) {
  return type.element ? ReferredBy(*type.element) : type.type;
}

void AddSchemas(const Type& type, Json& schemas) {
  if (schemas.contains(type.name)) return;
  Json properties = Json::object();
  Json required = Json::array();
  for (const Field& field : type.fields) {
    Json schema = SchemaOf(field.type);
    if (schema.contains("$ref")) schema = {{"allOf", Json::array({schema})}};
    const std::string_view text = DescriptionOf(type.name, field.name);
    if (!text.empty()) schema["description"] = text;
    properties[field.name] = std::move(schema);
    if (field.required) required.push_back(field.name);
  }
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  if (const std::string_view text = DescriptionOf(type.name, ""); !text.empty()) schema["description"] = text;
  schemas[type.name] = std::move(schema);
  for (const Field& field : type.fields) {
    if (const Type* referred = ReferredBy(field.type)) AddSchemas(*referred, schemas);
  }
}

}  // namespace

std::string BuiltinTypeName(const ApiResource& resource) {
  if (resource.custom) return "";
  const std::string name = resource.id.group == "events.k8s.io" ? "EventsEvent" : resource.kind;
  return Types::Get().Find(name) ? name : "";
}

DecodeResult DecodeBuiltin(const ApiResource& resource, Json& object) {
  Decoder decoder;
  const std::string name = BuiltinTypeName(resource);
  if (!name.empty() && object.is_object()) decoder.Struct(*Types::Get().Find(name), object, "", "");
  return std::move(decoder.result);
}

void AddBuiltinSchemas(const std::string& name, Json& schemas) {
  const Type* type = Types::Get().Find(name);
  if (!type) return;
  AddSchemas(*type, schemas);
  schemas["Quantity"] = {{"type", "string"}, {"description", "A number with a unit, such as 500m or 1Gi."}};
  schemas["IntOrString"] = {{"type", "string"}, {"format", "int-or-string"}};
}

}  // namespace tutti::sim
