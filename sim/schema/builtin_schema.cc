// SPDX-License-Identifier: Apache-2.0
#include "sim/schema/builtin_schema.h"

#include <fmt/format.h>

#include <map>

#include "base/json_string.h"
#include "sim/objects/quantity_text.h"
#include "sim/schema/type_table.h"

namespace tutti::sim {
namespace {

// --- Decoding ---

std::string GoName(const TypeRef& type) {
  switch (type.shape) {
    case Shape::kString: return "string";
    case Shape::kBool: return "bool";
    case Shape::kInt32: return "int32";
    case Shape::kInt64: return "int64";
    case Shape::kBytes: return "[]uint8";
    case Shape::kTime: return "v1.Time";
    case Shape::kMicroTime: return "v1.MicroTime";
    case Shape::kQuantity: return "resource.Quantity";
    case Shape::kIntOrString: return "intstr.IntOrString";
    case Shape::kStruct: return "v1." + type.type->name;
    case Shape::kList: return "[]" + GoName(*type.element);
    case Shape::kMap: return "map[string]" + GoName(*type.element);
    case Shape::kRaw:
    case Shape::kAny: break;
  }
  return "interface {}";
}

// What a value of the type must be, in words for people.
std::string_view PlainName(const TypeRef& type) {
  switch (type.shape) {
    case Shape::kString:
    case Shape::kBytes: return "a string; put it in quotes";
    case Shape::kBool: return "true or false";
    case Shape::kInt32:
    case Shape::kInt64: return "a whole number";
    case Shape::kTime:
    case Shape::kMicroTime: return "a time, such as 2026-01-31T12:00:00Z";
    case Shape::kQuantity: return "a quantity, such as 500m, 2 or 4Gi";
    case Shape::kIntOrString: return "a whole number or a string";
    case Shape::kList: return "a list";
    case Shape::kStruct:
    case Shape::kMap:
    case Shape::kRaw:
    case Shape::kAny: break;
  }
  return "a map";
}

std::string JsonKind(const Json& value) {
  if (value.is_number_float()) return "number " + base::PrintJson(value);
  if (value.is_number()) return "number";
  if (value.is_boolean()) return "bool";
  return value.type_name();
}

class Decoder {
 public:
  void Struct(const Type& type, Json& value) {
    auto field = type.fields.begin();
    for (auto it = value.begin(); it != value.end() && result.error.empty();) {
      while (field != type.fields.end() && field->name < it.key()) ++field;
      path_.push_back({&it.key(), 0, true});
      if (field == type.fields.end() || field->name != it.key()) {
        result.unknown_fields.push_back(Path());
        it = value.erase(it);
      } else {
        struct_name_ = &type.name;
        Value(field->type, *it);
        ++it;
      }
      path_.pop_back();
    }
  }

  DecodeResult result;

 private:
  struct Step {
    const std::string* key;  // null: the `index`th of a list
    size_t index;
    bool field;  // of a struct, and so part of what Go names
  };

  void Value(const TypeRef& type, Json& value) {
    if (value.is_null()) return;
    switch (type.shape) {
      case Shape::kStruct: return value.is_object() ? Struct(*type.type, value) : Mismatch(type, value);
      case Shape::kList: return value.is_array() ? List(type, value) : Mismatch(type, value);
      case Shape::kMap: return value.is_object() ? Map(type, value) : Mismatch(type, value);
      default: return Scalar(type, value);
    }
  }

  void List(const TypeRef& type, Json& value) {
    for (size_t i = 0; i < value.size() && result.error.empty(); ++i) {
      path_.push_back({nullptr, i, false});
      Value(*type.element, value[i]);
      path_.pop_back();
    }
  }

  void Map(const TypeRef& type, Json& value) {
    for (auto it = value.begin(); it != value.end(); ++it) {
      path_.push_back({&it.key(), 0, false});
      Value(*type.element, *it);
      path_.pop_back();
    }
  }

  // "spec.containers[0].image"
  std::string Path() const {
    std::string path;
    for (const Step& step : path_)
      path += step.key ? (path.empty() ? "" : ".") + *step.key : fmt::format("[{}]", step.index);
    return path;
  }
  // "spec.containers.image"
  std::string GoPath() const {
    std::string path;
    for (const Step& step : path_)
      if (step.field) path += (path.empty() ? "" : ".") + *step.key;
    return path;
  }

  void Scalar(const TypeRef& type, const Json& value) {
    bool good = true;
    switch (type.shape) {
      case Shape::kString:
      case Shape::kBytes: good = value.is_string(); break;
      case Shape::kBool: good = value.is_boolean(); break;
      case Shape::kInt64: good = value.is_number_integer(); break;
      case Shape::kInt32: good = value.is_number_integer() && value <= INT32_MAX && value >= INT32_MIN; break;
      case Shape::kIntOrString: good = value.is_number_integer() || value.is_string(); break;
      case Shape::kTime:
      case Shape::kMicroTime:
        good = value.is_string();
        if (good && !base::ParseTime(StringOf(value))) {
          Fail(type, fmt::format("parsing time {} as \"2006-01-02T15:04:05Z07:00\": cannot parse {} as \"2006\"",
                                 base::PrintJson(value), base::PrintJson(value)));
        }
        break;
      case Shape::kQuantity:
        if (!CanonicalQuantity(value)) {
          Fail(type, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
        }
        break;
      default: break;
    }
    if (!good) Mismatch(type, value);
  }

  void Mismatch(const TypeRef& type, const Json& value) {
    Fail(type, fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", JsonKind(value),
                           *struct_name_, GoPath(), GoName(type)));
    // Quotes are of no use around a list or a map.
    if (value.is_structured()) result.wanted = result.wanted.substr(0, result.wanted.find(';'));
  }

  void Fail(const TypeRef& type, std::string error) {
    if (!result.error.empty()) return;
    result.error = std::move(error);
    result.path = Path();
    result.wanted = PlainName(type);
  }

  const std::string* struct_name_ = nullptr;
  std::vector<Step> path_;
};

// --- OpenAPI ---

const std::string kReference = "#/components/schemas/";

Json SchemaOf(const TypeRef& type) {
  switch (type.shape) {
    case Shape::kString: return {{"type", "string"}};
    case Shape::kBool: return {{"type", "boolean"}};
    case Shape::kInt32: return {{"type", "integer"}, {"format", "int32"}};
    case Shape::kInt64: return {{"type", "integer"}, {"format", "int64"}};
    case Shape::kBytes: return {{"type", "string"}, {"format", "byte"}};
    case Shape::kTime:
    case Shape::kMicroTime: return {{"type", "string"}, {"format", "date-time"}};
    case Shape::kQuantity: return {{"$ref", kReference + "Quantity"}};
    case Shape::kIntOrString: return {{"$ref", kReference + "IntOrString"}};
    case Shape::kStruct: return {{"$ref", kReference + type.type->name}};
    case Shape::kList: return {{"type", "array"}, {"items", SchemaOf(*type.element)}};
    case Shape::kMap: return {{"type", "object"}, {"additionalProperties", SchemaOf(*type.element)}};
    case Shape::kRaw:
    case Shape::kAny: break;
  }
  return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
}

// What a value of the type must be, without words about it.
Json PlainSchema(const Type& type) {
  Json schema = {{"type", "object"}, {"properties", Json::object()}};
  for (const Field& field : type.fields) {
    schema["properties"][field.name] = SchemaOf(field.type);
    if (field.required) schema["required"].push_back(field.name);
  }
  return schema;
}

std::map<std::string, Json, std::less<>> PlainSchemas() {
  std::map<std::string, Json, std::less<>> schemas;
  for (const auto& [name, type] : TypeTable::Get().All()) schemas[name] = PlainSchema(type);
  for (const char* name : {"Quantity", "IntOrString"}) schemas[name] = {{"x-kubernetes-int-or-string", true}};
  return schemas;
}

const Type* ReferredBy(const TypeRef& type) { return type.element ? ReferredBy(*type.element) : type.type; }

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
  return TypeTable::Get().Find(name) ? name : "";
}

DecodeResult DecodeBuiltin(const ApiResource& resource, Json& object) {
  Decoder decoder;
  const std::string name = BuiltinTypeName(resource);
  if (!name.empty() && object.is_object()) decoder.Struct(*TypeTable::Get().Find(name), object);
  return std::move(decoder.result);
}

void AddBuiltinSchemas(const std::string& name, Json& schemas) {
  const Type* type = TypeTable::Get().Find(name);
  if (!type) return;
  AddSchemas(*type, schemas);
  schemas["Quantity"] = {{"type", "string"}, {"description", "A number with a unit, such as 500m or 1Gi."}};
  schemas["IntOrString"] = {{"type", "string"}, {"format", "int-or-string"}};
}

const Json* BuiltinSchema(const std::string& reference) {
  if (!reference.starts_with(kReference)) return nullptr;
  static const std::map<std::string, Json, std::less<>> schemas = PlainSchemas();
  const auto found = schemas.find(std::string_view(reference).substr(kReference.size()));
  return found == schemas.end() ? nullptr : &found->second;
}

}  // namespace tutti::sim
