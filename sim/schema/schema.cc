// SPDX-License-Identifier: Apache-2.0
#include "sim/schema/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_string.h"
#include "sim/schema/builtin_schema.h"

namespace tutti::sim {
namespace {

constexpr const char* kPreserve = "x-kubernetes-preserve-unknown-fields";
constexpr const char* kIntOrString = "x-kubernetes-int-or-string";
constexpr const char* kEmbedded = "x-kubernetes-embedded-resource";

bool IsImplicit(const std::string& key) { return key == "apiVersion" || key == "kind" || key == "metadata"; }

std::string Join(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }

// What the schema says, by itself or by the built-in type that it refers to.
const Json& Meant(const Json& schema) {
  const Json* type = BuiltinSchema(DigString(schema, "$ref"));
  return type ? *type : schema;
}

class Pruner {
 public:
  void Visit(const Json& said, Json& value, const std::string& path, bool is_resource) {
    const Json& schema = Meant(said);
    if (value.is_array()) {
      const Json& items = Child(schema, "items");
      for (size_t i = 0; i < value.size(); ++i) Visit(items, value[i], fmt::format("{}[{}]", path, i), false);
      return;
    }
    if (!value.is_object()) return;
    // A map where a list is due has no fields to be unknown: it is its type that is wrong.
    if (const std::string& type = DigString(schema, "type"); !type.empty() && type != "object") return;
    is_resource = is_resource || BoolOf(Child(schema, kEmbedded));
    const Json& properties = MapOf(Child(schema, "properties"));
    const Json& additional = Child(schema, "additionalProperties");
    const bool preserve = BoolOf(Child(schema, kPreserve));
    for (auto it = value.begin(); it != value.end();) {
      const std::string& key = it.key();
      if (is_resource && IsImplicit(key)) {
        ++it;
      } else if (const Json& known = Child(properties, key); known.is_object()) {
        Visit(known, *it, Join(path, key), false);
        ++it;
      } else if (additional.is_object()) {
        Visit(additional, *it, Join(path, key), false);
        ++it;
      } else if (preserve || BoolOf(additional)) {
        ++it;
      } else {
        dropped.push_back(Join(path, key));
        it = value.erase(it);
      }
    }
  }

  std::vector<std::string> dropped;
};

class Validator {
 public:
  explicit Validator(std::vector<FieldError>& errors) : errors_(errors) {}

  void Visit(const Json& said, const Json& value, const std::string& path, bool is_resource) {
    const Json& schema = Meant(said);
    if (value.is_null() && BoolOf(Child(schema, "nullable"))) return;
    if (!HasType(schema, value)) {
      const std::string& type = DigString(schema, "type");
      const std::string expected = BoolOf(Child(schema, kIntOrString)) ? "integer,string" : type;
      const Json found = TypeName(value);
      errors_.push_back(TypeInvalidField(
          path, found, fmt::format("{} in body must be of type {}: {}", path, expected, base::PrintJson(found))));
      return;
    }
    Bounds(schema, value, path);
    Enum(schema, value, path);
    if (value.is_array()) {
      const Json& items = Child(schema, "items");
      for (size_t i = 0; i < value.size(); ++i) Visit(items, value[i], fmt::format("{}[{}]", path, i), false);
    }
    if (value.is_object()) Members(schema, value, path, is_resource);
  }

 private:
  static bool HasType(const Json& schema, const Json& value) {
    if (BoolOf(Child(schema, kIntOrString))) return value.is_number_integer() || value.is_string();
    const std::string& type = DigString(schema, "type");
    if (type.empty()) return true;
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "number") return value.is_number();
    if (type != "integer") return true;
    return value.is_number_integer() ||
           (value.is_number_float() && double(int64_t(value.get<double>())) == value.get<double>());
  }

  static const char* TypeName(const Json& value) {
    if (value.is_number_float()) return "float64";
    return value.is_number() ? "integer" : value.type_name();
  }

  void Members(const Json& schema, const Json& value, const std::string& path, bool is_resource) {
    for (const Json& name : ArrayOf(Child(schema, "required"))) {
      if (!value.contains(StringOf(name))) errors_.push_back(RequiredField(Join(path, StringOf(name))));
    }
    const Json& properties = Child(schema, "properties");
    const Json& additional = Child(schema, "additionalProperties");
    for (const auto& [key, member] : value.items()) {
      if (is_resource && IsImplicit(key)) continue;
      const Json& known = Child(properties, key);
      if (known.is_object()) {
        Visit(known, member, Join(path, key), false);
      } else if (additional.is_object()) {
        Visit(additional, member, Join(path, key), false);
      }
    }
  }

  void Bounds(const Json& schema, const Json& value, const std::string& path) {
    if (value.is_number()) {
      Limit(schema, "minimum", value, path, [](double a, double b) { return a >= b; }, "be greater than or equal to");
      Limit(schema, "maximum", value, path, [](double a, double b) { return a <= b; }, "be less than or equal to");
      const bool int32 = DigString(schema, "format") == "int32";
      if (int32 && value.is_number_integer() && (value > 2147483647LL || value < -2147483648LL)) {
        Add(path, value, fmt::format("{} in body must be of type int32: \"number\"", path));
      }
    } else if (value.is_string()) {
      const int64_t length = int64_t(value.get_ref<const std::string&>().size());
      AtLeast(schema, "minLength", length, "chars long", value, path);
      if (const Json& most = Child(schema, "maxLength"); length > IntOf(most, length)) {
        errors_.push_back(TooLongField(path, IntOf(most)));
      }
    } else if (value.is_array()) {
      AtLeast(schema, "minItems", int64_t(value.size()), "items", Json(value.size()), path);
      AtMost(schema, "maxItems", value.size(), path);
    } else if (value.is_object()) {
      AtLeast(schema, "minProperties", int64_t(value.size()), "properties", Json(value.size()), path);
      AtMost(schema, "maxProperties", value.size(), path);
    }
  }

  template <class Holds>
  void Limit(const Json& schema, const char* keyword, const Json& value, const std::string& path, Holds holds,
             const char* words) {
    const Json& bound = Child(schema, keyword);
    if (!bound.is_number() || holds(value.get<double>(), bound.get<double>())) return;
    Add(path, value, fmt::format("{} in body should {} {}", path, words, base::PrintJson(bound)));
  }

  void AtLeast(const Json& schema, const char* keyword, int64_t count, const char* unit, const Json& shown,
               const std::string& path) {
    const Json& bound = Child(schema, keyword);
    if (count >= IntOf(bound, count)) return;
    Add(path, shown, fmt::format("{} in body should be at least {} {}", path, base::PrintJson(bound), unit));
  }

  void AtMost(const Json& schema, const char* keyword, size_t count, const std::string& path) {
    const int64_t bound = IntOf(Child(schema, keyword), int64_t(count));
    if (int64_t(count) > bound) errors_.push_back(TooManyField(path, count, bound));
  }

  void Enum(const Json& schema, const Json& value, const std::string& path) {
    const Json& allowed = Child(schema, "enum");
    if (!allowed.is_array() || std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
    std::vector<std::string> names;
    for (const Json& each : allowed)
      names.push_back(each.is_string() ? each.get<std::string>() : base::PrintJson(each));
    errors_.push_back(UnsupportedField(path, value, names));
  }

  void Add(const std::string& path, const Json& value, const std::string& detail) {
    errors_.push_back(InvalidField(path, value, detail));
  }

  std::vector<FieldError>& errors_;
};

}  // namespace

std::vector<std::string> PruneUnknown(const Json& schema, Json& object) {
  Pruner pruner;
  pruner.Visit(schema, object, "", true);
  return std::move(pruner.dropped);
}

void ApplyDefaults(const Json& said, Json& value) {
  const Json& schema = Meant(said);
  if (value.is_array()) {
    for (Json& item : value) ApplyDefaults(Child(schema, "items"), item);
    return;
  }
  if (!value.is_object()) return;
  for (const auto& [key, property] : MapOf(Child(schema, "properties")).items()) {
    const Json& fallback = Child(property, "default");
    const auto it = value.find(key);
    const bool void_null = it != value.end() && it->is_null() && !BoolOf(Child(property, "nullable"));
    if (void_null) value.erase(it);
    if (!fallback.is_null() && !value.contains(key)) value[key] = fallback;
    if (const auto present = value.find(key); present != value.end()) ApplyDefaults(property, *present);
  }
  if (const Json& additional = Child(schema, "additionalProperties"); additional.is_object()) {
    const Json& properties = Child(schema, "properties");
    for (auto& [key, member] : value.items()) {
      if (!Child(properties, key).is_object()) ApplyDefaults(additional, member);
    }
  }
}

void ValidateAgainst(const Json& schema, const Json& object, std::vector<FieldError>& errors) {
  Validator(errors).Visit(schema, object, "", true);
}

}  // namespace tutti::sim
