// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/to_protobuf.h"

#include <map>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_string.h"
#include "sim/objects/object.h"
#include "sim/schema/type_table.h"

namespace tutti::fuzz {
namespace {

using base::Json;
using sim::Shape;
using sim::TypeRef;

std::string Varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

std::string Number(int field, int64_t value) {
  return Varint(uint64_t(field) << 3) + Varint(static_cast<uint64_t>(value));
}

std::string Bytes(int field, std::string_view bytes) {
  return Varint(uint64_t(field) << 3 | 2) + Varint(bytes.size()).append(bytes);
}

// A quantity may be a number.
std::string AmountText(const Json& value) { return value.is_number() ? value.dump() : sim::StringOf(value); }

bool Fits(Shape shape, const Json& value) {
  switch (shape) {
    case Shape::kString: return value.is_string();
    case Shape::kBool: return value.is_boolean();
    case Shape::kInt32:
    case Shape::kInt64: return value.is_number_integer();
    case Shape::kRaw: return !value.is_null();
    case Shape::kQuantity:
    case Shape::kIntOrString: return value.is_string() || value.is_number();
    case Shape::kTime:
    case Shape::kMicroTime: return base::ParseTime(sim::StringOf(value)).has_value();
    case Shape::kStruct: return value.is_object();
    default: return false;
  }
}

std::string Message(const sim::Type& type, const Json& object);

// Of the year 1, which means absent, nothing.
std::string Time(const Json& value) {
  const auto time = base::ParseTime(sim::StringOf(value));
  return time ? Number(1, *time / 1000) + Number(2, 0) : std::string();
}

std::string IntOrString(const Json& value) {
  return Number(1, value.is_string()) + Number(2, static_cast<int32_t>(sim::IntOf(value))) +
         Bytes(3, sim::StringOf(value));
}

std::string Value(int field, const TypeRef& type, const Json& value) {
  switch (type.shape) {
    case Shape::kString: return Bytes(field, sim::StringOf(value));
    case Shape::kBool: return Number(field, sim::BoolOf(value));
    case Shape::kInt32: return Number(field, static_cast<int32_t>(sim::IntOf(value)));
    case Shape::kInt64: return Number(field, sim::IntOf(value));
    case Shape::kRaw: return Bytes(field, Bytes(1, base::PrintJson(value)));
    case Shape::kQuantity: return Bytes(field, Bytes(1, AmountText(value)));
    case Shape::kIntOrString: return Bytes(field, IntOrString(value));
    case Shape::kTime:
    case Shape::kMicroTime: return Bytes(field, Time(value));
    case Shape::kStruct: return Bytes(field, Message(*type.type, value));
    default: return {};  // no pod, node or selection has any
  }
}

std::string Field(const sim::Field& field, const Json& value) {
  const TypeRef& type = field.type;
  std::string out;
  if (type.shape == Shape::kList) {
    for (const Json& item : sim::ArrayOf(value)) out += Value(field.number, *type.element, item);
  } else if (type.shape == Shape::kMap) {
    for (const auto& [key, item] : sim::MapOf(value).items())
      out += Bytes(field.number, Bytes(1, key) + Value(2, *type.element, item));
  } else if (!type.pointer || Fits(type.shape, value)) {
    out = Value(field.number, type, value);
  }
  return out;
}

std::string Message(const sim::Type& type, const Json& object) {
  std::map<int, std::string> fields;                 // by number
  std::map<int, std::map<int, std::string>> within;  // of the messages that JSON does not show
  for (const sim::Field& field : type.fields) {
    if (field.number == 0) continue;
    (field.outer == 0 ? fields : within[field.outer])[field.number] = Field(field, sim::Child(object, field.name));
  }
  const auto joined = [](const std::map<int, std::string>& parts) {
    std::string all;
    for (const auto& [_, part] : parts) all += part;
    return all;
  };
  for (const auto& [number, parts] : within) fields[number] = Bytes(number, joined(parts));
  return joined(fields);
}

}  // namespace

std::string ToProtobuf(const std::string& kind, const Json& object) {
  return Message(*sim::TypeTable::Get().Find(kind), object);
}

std::string InEnvelope(std::string_view api_version, std::string_view kind, std::string_view message) {
  return std::string("k8s\0", 4) + Bytes(1, Bytes(1, api_version) + Bytes(2, kind)) + Bytes(2, message) + Bytes(3, "") +
         Bytes(4, "");
}

}  // namespace tutti::fuzz
