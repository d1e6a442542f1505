// SPDX-License-Identifier: Apache-2.0
#include "sim/schema/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/json_string.h"

namespace tutti::sim {
namespace {

using ValueType = SchemaNode::Type;

// Of what the schema says nothing.
const SchemaNode kNothing;

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

class Pruner {
 public:
  void Visit(const SchemaNode& schema, const Json* before, Json& value, const Place& place, bool is_resource) {
    if (!value.is_structured() || IsKnown(value, before)) return;
    if (value.is_array()) {
      const SchemaNode& items = schema.items ? *schema.items : kNothing;
      for (size_t i = 0; i < value.size(); ++i) Visit(items, KnownAt(before, i), value[i], place.At(i), false);
      return;
    }
    // A map where a list is due has no fields to be unknown: it is its type that is wrong.
    if (schema.type != ValueType::kAny && schema.type != ValueType::kObject) return;
    is_resource = is_resource || schema.embeds;
    for (auto it = value.begin(); it != value.end();) {
      const std::string& key = it.key();
      if (is_resource && IsImplicit(key)) {
        ++it;
      } else if (const SchemaNode* known = schema.Member(key)) {
        Visit(*known, KnownIn(before, key), *it, place.In(key), false);
        ++it;
      } else if (schema.preserves) {
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

  void Visit(const SchemaNode& schema, const Json* before, const Json& value, const Place& place, bool is_resource) {
    if (IsKnown(value, before)) return;
    if (value.is_null() && schema.nullable) return;
    if (!HasType(schema, value)) {
      const std::string expected = schema.int_or_string ? "integer,string" : schema.type_name;
      const Json found = TypeName(value);
      const std::string path = place.Text();
      errors_.push_back(TypeInvalidField(
          path, found, fmt::format("{} in body must be of type {}: {}", path, expected, base::PrintJson(found))));
      return;
    }
    Bounds(schema, value, place);
    if (schema.allowed) Enum(*schema.allowed, value, place);
    if (value.is_array() && schema.items)
      for (size_t i = 0; i < value.size(); ++i) Visit(*schema.items, KnownAt(before, i), value[i], place.At(i), false);
    if (value.is_object()) Members(schema, before, value, place, is_resource);
  }

 private:
  static bool HasType(const SchemaNode& schema, const Json& value) {
    if (schema.int_or_string) return value.is_number_integer() || value.is_string();
    switch (schema.type) {
      case ValueType::kObject: return value.is_object();
      case ValueType::kArray: return value.is_array();
      case ValueType::kString: return value.is_string();
      case ValueType::kBoolean: return value.is_boolean();
      case ValueType::kNumber: return value.is_number();
      case ValueType::kInteger:
        return value.is_number_integer() ||
               (value.is_number_float() && double(int64_t(value.get<double>())) == value.get<double>());
      case ValueType::kAny:
      case ValueType::kOther: break;
    }
    return true;
  }

  static const char* TypeName(const Json& value) {
    if (value.is_number_float()) return "float64";
    return value.is_number() ? "integer" : value.type_name();
  }

  void Members(const SchemaNode& schema, const Json* before, const Json& value, const Place& place, bool is_resource) {
    for (const std::string& name : schema.required)
      if (!value.contains(name)) errors_.push_back(RequiredField(place.In(name).Text()));
    for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
      if (is_resource && IsImplicit(key)) continue;
      if (const SchemaNode* known = schema.Member(key))
        Visit(*known, KnownIn(before, key), member, place.In(key), false);
    }
  }

  void Bounds(const SchemaNode& schema, const Json& value, const Place& place) {
    if (value.is_number()) {
      Limit(schema.minimum, value, place, std::greater_equal<double>(), "be greater than or equal to");
      Limit(schema.maximum, value, place, std::less_equal<double>(), "be less than or equal to");
      if (schema.int32 && value.is_number_integer() && (value > 2147483647LL || value < -2147483648LL)) {
        Add(place, value, "must be of type int32: \"number\"");
      }
    } else if (value.is_string()) {
      const size_t length = value.get_ref<const std::string&>().size();
      AtLeast(schema.min_length, length, "chars long", value, place);
      if (schema.max_length && int64_t(length) > *schema.max_length)
        errors_.push_back(TooLongField(place.Text(), *schema.max_length));
    } else if (value.is_array()) {
      AtLeast(schema.min_items, value.size(), "items", Json(value.size()), place);
      AtMost(schema.max_items, value.size(), place);
    } else if (value.is_object()) {
      AtLeast(schema.min_properties, value.size(), "properties", Json(value.size()), place);
      AtMost(schema.max_properties, value.size(), place);
    }
  }

  template <class Holds>
  void Limit(const Json& bound, const Json& value, const Place& place, Holds holds, const char* words) {
    if (bound.is_null() || holds(value.get<double>(), bound.get<double>())) return;
    Add(place, value, fmt::format("should {} {}", words, base::PrintJson(bound)));
  }

  void AtLeast(std::optional<int64_t> bound, size_t count, const char* unit, const Json& shown, const Place& place) {
    if (!bound || int64_t(count) >= *bound) return;
    Add(place, shown, fmt::format("should be at least {} {}", *bound, unit));
  }

  void AtMost(std::optional<int64_t> bound, size_t count, const Place& place) {
    if (bound && int64_t(count) > *bound) errors_.push_back(TooManyField(place.Text(), count, *bound));
  }

  void Enum(const std::vector<Json>& allowed, const Json& value, const Place& place) {
    if (std::ranges::find(allowed, value) != allowed.end()) return;
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

void FillInBelow(const SchemaNode& schema, Json& value, const Json* known) {
  if (!value.is_structured() || IsKnown(value, known)) return;
  if (value.is_array()) {
    if (!schema.items) return;
    for (size_t i = 0; i < value.size(); ++i) FillInBelow(*schema.items, value[i], KnownAt(known, i));
    return;
  }
  // A null that is not allowed counts as absent.
  for (auto it = value.begin(); it != value.end();) {
    const SchemaNode* property = it->is_null() ? schema.Property(it.key()) : nullptr;
    it = property && !property->nullable ? value.erase(it) : std::next(it);
  }
  for (const auto& [key, fallback] : schema.defaults)
    if (!value.contains(key)) value[key] = fallback;
  for (auto& [key, member] : value.get_ref<Json::object_t&>())
    if (const SchemaNode* said = schema.Member(key)) FillInBelow(*said, member, KnownIn(known, key));
}

}  // namespace

const SchemaNode& Schema::root() const {
  std::call_once(read_, [this] { tree_.emplace(json_); });
  return tree_->root();
}

std::vector<std::string> Schema::Prune(Json& object, const Json* known) const {
  Pruner pruner;
  pruner.Visit(root(), known, object, Place(), true);
  return std::move(pruner.dropped);
}

void Schema::FillIn(Json& object, const Json* known) const { FillInBelow(root(), object, known); }

void Schema::Validate(const Json& object, std::vector<FieldError>& errors, const Json* known) const {
  Validator(errors).Visit(root(), known, object, Place(), true);
}

}  // namespace tutti::sim
