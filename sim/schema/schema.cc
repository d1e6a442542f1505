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

// Where a value is, as a chain up to the whole object: made text only for what is told.
struct Place {
  const Place* above = nullptr;  // null: of the whole object
  std::string_view key;
  size_t index = 0;  // in a list; then there is no key

  Place In(std::string_view member) const { return {this, member}; }
  Place At(size_t item) const { return {this, {}, item}; }
  std::string Text() const {
    if (above == nullptr) return "";
    std::string text = above->Text();
    if (key.data() == nullptr) return fmt::format("{}[{}]", text, index);
    if (!text.empty()) text += '.';
    return text.append(key);
  }
};

// Whether the value is one that was looked at before, by the same schema.
bool IsKnown(const Json& value, const Json* known) { return known != nullptr && base::IsShared(value, *known); }

// What is known of a member, or of an item, of something known.
const Json* KnownIn(const Json* known, std::string_view key) { return known ? &Child(*known, key) : nullptr; }
const Json* KnownAt(const Json* known, size_t index) {
  return known && known->is_array() && index < known->size() ? &(*known)[index] : nullptr;
}

// What the schema says, by itself or by the built-in type that it refers to.
const Json& Meant(const Json& schema) {
  const Json* type = BuiltinSchema(DigString(schema, "$ref"));
  return type ? *type : schema;
}

class Pruner {
 public:
  void Visit(const Json& said, const Json* before, Json& value, const Place& place, bool is_resource) {
    if (!value.is_structured() || IsKnown(value, before)) return;
    const Json& schema = Meant(said);
    if (value.is_array()) {
      const Json& items = Child(schema, "items");
      for (size_t i = 0; i < value.size(); ++i) Visit(items, KnownAt(before, i), value[i], place.At(i), false);
      return;
    }
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
        Visit(known, KnownIn(before, key), *it, place.In(key), false);
        ++it;
      } else if (additional.is_object()) {
        Visit(additional, KnownIn(before, key), *it, place.In(key), false);
        ++it;
      } else if (preserve || BoolOf(additional)) {
        ++it;
      } else {
        dropped.push_back(place.In(key).Text());
        it = value.erase(it);
      }
    }
  }

  std::vector<std::string> dropped;
};

class Validator {
 public:
  explicit Validator(std::vector<FieldError>& errors) : errors_(errors) {}

  void Visit(const Json& said, const Json* before, const Json& value, const Place& place, bool is_resource) {
    if (IsKnown(value, before)) return;
    const Json& schema = Meant(said);
    if (value.is_null() && BoolOf(Child(schema, "nullable"))) return;
    if (!HasType(schema, value)) {
      const std::string& type = DigString(schema, "type");
      const std::string expected = BoolOf(Child(schema, kIntOrString)) ? "integer,string" : type;
      const Json found = TypeName(value);
      const std::string path = place.Text();
      errors_.push_back(TypeInvalidField(
          path, found, fmt::format("{} in body must be of type {}: {}", path, expected, base::PrintJson(found))));
      return;
    }
    Bounds(schema, value, place);
    Enum(schema, value, place);
    if (value.is_array()) {
      const Json& items = Child(schema, "items");
      for (size_t i = 0; i < value.size(); ++i) Visit(items, KnownAt(before, i), value[i], place.At(i), false);
    }
    if (value.is_object()) Members(schema, before, value, place, is_resource);
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

  void Members(const Json& schema, const Json* before, const Json& value, const Place& place, bool is_resource) {
    for (const Json& name : ArrayOf(Child(schema, "required"))) {
      if (!value.contains(StringOf(name))) errors_.push_back(RequiredField(place.In(StringOf(name)).Text()));
    }
    const Json& properties = Child(schema, "properties");
    const Json& additional = Child(schema, "additionalProperties");
    for (const auto& [key, member] : value.items()) {
      if (is_resource && IsImplicit(key)) continue;
      const Json& known = Child(properties, key);
      if (known.is_object()) {
        Visit(known, KnownIn(before, key), member, place.In(key), false);
      } else if (additional.is_object()) {
        Visit(additional, KnownIn(before, key), member, place.In(key), false);
      }
    }
  }

  void Bounds(const Json& schema, const Json& value, const Place& place) {
    if (value.is_number()) {
      Limit(schema, "minimum", value, place, [](double a, double b) { return a >= b; }, "be greater than or equal to");
      Limit(schema, "maximum", value, place, [](double a, double b) { return a <= b; }, "be less than or equal to");
      const bool int32 = DigString(schema, "format") == "int32";
      if (int32 && value.is_number_integer() && (value > 2147483647LL || value < -2147483648LL)) {
        Add(place, value, "must be of type int32: \"number\"");
      }
    } else if (value.is_string()) {
      const int64_t length = int64_t(value.get_ref<const std::string&>().size());
      AtLeast(schema, "minLength", length, "chars long", value, place);
      if (const Json& most = Child(schema, "maxLength"); length > IntOf(most, length)) {
        errors_.push_back(TooLongField(place.Text(), IntOf(most)));
      }
    } else if (value.is_array()) {
      AtLeast(schema, "minItems", int64_t(value.size()), "items", Json(value.size()), place);
      AtMost(schema, "maxItems", value.size(), place);
    } else if (value.is_object()) {
      AtLeast(schema, "minProperties", int64_t(value.size()), "properties", Json(value.size()), place);
      AtMost(schema, "maxProperties", value.size(), place);
    }
  }

  template <class Holds>
  void Limit(const Json& schema, const char* keyword, const Json& value, const Place& place, Holds holds,
             const char* words) {
    const Json& bound = Child(schema, keyword);
    if (!bound.is_number() || holds(value.get<double>(), bound.get<double>())) return;
    Add(place, value, fmt::format("should {} {}", words, base::PrintJson(bound)));
  }

  void AtLeast(const Json& schema, const char* keyword, int64_t count, const char* unit, const Json& shown,
               const Place& place) {
    const Json& bound = Child(schema, keyword);
    if (count >= IntOf(bound, count)) return;
    Add(place, shown, fmt::format("should be at least {} {}", base::PrintJson(bound), unit));
  }

  void AtMost(const Json& schema, const char* keyword, size_t count, const Place& place) {
    const int64_t bound = IntOf(Child(schema, keyword), int64_t(count));
    if (int64_t(count) > bound) errors_.push_back(TooManyField(place.Text(), count, bound));
  }

  void Enum(const Json& schema, const Json& value, const Place& place) {
    const Json& allowed = Child(schema, "enum");
    if (!allowed.is_array() || std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
    std::vector<std::string> names;
    for (const Json& each : allowed)
      names.push_back(each.is_string() ? each.get<std::string>() : base::PrintJson(each));
    errors_.push_back(UnsupportedField(place.Text(), value, names));
  }

  void Add(const Place& place, const Json& value, const std::string& what) {
    const std::string path = place.Text();
    errors_.push_back(InvalidField(path, value, fmt::format("{} in body {}", path, what)));
  }

  std::vector<FieldError>& errors_;
};

// A null that is not allowed counts as absent.
void DropNulls(const Json& properties, Json& value) {
  for (auto it = value.begin(); it != value.end();) {
    const bool goes = it->is_null() && properties.contains(it.key()) && !BoolOf(Dig(properties, it.key(), "nullable"));
    it = goes ? value.erase(it) : std::next(it);
  }
}

void FillIn(const Json& properties, Json& value) {
  for (const auto& [key, property] : properties.items())
    if (const Json& fallback = Child(property, "default"); !fallback.is_null() && !value.contains(key))
      value[key] = fallback;
}

}  // namespace

std::vector<std::string> PruneUnknown(const Json& schema, Json& object, const Json* known) {
  Pruner pruner;
  pruner.Visit(schema, known, object, Place(), true);
  return std::move(pruner.dropped);
}

void ApplyDefaults(const Json& said, Json& value, const Json* known) {
  if (!value.is_structured() || IsKnown(value, known)) return;
  const Json& schema = Meant(said);
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) ApplyDefaults(Child(schema, "items"), value[i], KnownAt(known, i));
    return;
  }
  const Json& properties = MapOf(Child(schema, "properties"));
  const Json& additional = Child(schema, "additionalProperties");
  DropNulls(properties, value);
  // A built-in type has many fields, and no defaults.
  if (&schema == &said) FillIn(properties, value);
  for (auto& [key, member] : value.items()) {
    if (const Json& property = Child(properties, key); property.is_object())
      ApplyDefaults(property, member, KnownIn(known, key));
    else if (additional.is_object())
      ApplyDefaults(additional, member, KnownIn(known, key));
  }
}

void ValidateAgainst(const Json& schema, const Json& object, std::vector<FieldError>& errors, const Json* known) {
  Validator(errors).Visit(schema, known, object, Place(), true);
}

}  // namespace tutti::sim
