// SPDX-License-Identifier: Apache-2.0
#include "sim/api/protobuf_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/base64.h"
#include "cluster/json_text.h"
#include "sim/schema/type_table.h"

namespace tutti::sim {
namespace {

constexpr std::string_view kEnvelope("k8s\0", 4);
constexpr int kMaxDepth = 100;

// One field on the wire: a number, or bytes.
struct Wire {
  uint32_t number = 0;
  bool is_bytes = false;
  uint64_t integer = 0;
  std::string_view bytes;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  // False at the end, and at a fault.
  bool Next(Wire& out) {
    if (rest_.empty() || !good_) return false;
    const uint64_t tag = Varint();
    out = Wire{uint32_t(tag >> 3), false, 0, {}};
    switch (tag & 7) {
      case 0: out.integer = Varint(); break;
      case 1: Take(8); break;
      case 2:
        out.is_bytes = true;
        out.bytes = Take(Varint());
        break;
      case 5: Take(4); break;
      default: good_ = false;
    }
    return good_;
  }

  bool good() const { return good_; }

 private:
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const uint8_t byte = uint8_t(rest_[0]);
      rest_.remove_prefix(1);
      value |= uint64_t(byte & 0x7F) << shift;
      if (!(byte & 0x80)) return value;
    }
    good_ = false;
    return 0;
  }

  std::string_view Take(uint64_t size) {
    if (size > rest_.size()) {
      good_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool good_ = true;
};

class Decoder {
 public:
  Json Message(const Type& type, std::string_view bytes, int depth) {
    Json object = Json::object();
    Fields(type, 0, bytes, object, depth);
    return object;
  }

  bool good = true;

 private:
  void Fields(const Type& type, int outer, std::string_view bytes, Json& object, int depth) {
    if (depth > kMaxDepth) good = false;
    Reader reader(bytes);
    Wire wire;
    while (good && reader.Next(wire)) {
      const bool inlined = outer == 0 && wire.is_bytes && IsInlined(type, int(wire.number));
      if (inlined) {
        Fields(type, int(wire.number), wire.bytes, object, depth + 1);
        continue;
      }
      for (const Field& field : type.fields) {
        if (field.outer == outer && field.number == int(wire.number)) Add(field, wire, object, depth);
      }
    }
    good = good && reader.good();
  }

  static bool IsInlined(const Type& type, int number) {
    return std::any_of(type.fields.begin(), type.fields.end(),
                       [&](const Field& field) { return field.outer == number; });
  }

  void Add(const Field& field, const Wire& wire, Json& object, int depth) {
    const TypeRef& type = field.type;
    if (type.shape == Shape::kList) {
      object[field.name].push_back(Value(*type.element, wire, depth));
    } else if (type.shape == Shape::kMap) {
      MapEntry(*type.element, wire.bytes, object[field.name], depth);
    } else {
      Json value = Value(type, wire, depth);
      if (!value.is_null() && (type.pointer || !IsZero(value))) object[field.name] = std::move(value);
    }
  }

  static bool IsZero(const Json& value) {
    return value == "" || value == false || (value.is_number_integer() && value == 0);
  }

  void MapEntry(const TypeRef& element, std::string_view bytes, Json& map, int depth) {
    Reader reader(bytes);
    Wire wire;
    std::string key;
    Json value =
        Value(element, Wire{2, element.shape != Shape::kInt32 && element.shape != Shape::kInt64, 0, {}}, depth);
    while (reader.Next(wire)) {
      if (wire.number == 1) key = wire.bytes;
      if (wire.number == 2) value = Value(element, wire, depth);
    }
    good = good && reader.good();
    map[key] = std::move(value);
  }

  Json Value(const TypeRef& type, const Wire& wire, int depth) {
    switch (type.shape) {
      case Shape::kString: return std::string(wire.bytes);
      case Shape::kBytes: return base::EncodeBase64(wire.bytes);
      case Shape::kBool: return wire.integer != 0;
      case Shape::kInt32: return int32_t(wire.integer);
      case Shape::kInt64: return int64_t(wire.integer);
      case Shape::kStruct: return Message(*type.type, wire.bytes, depth + 1);
      case Shape::kQuantity: return std::string(FieldOf(wire.bytes, 1).bytes);
      case Shape::kRaw: return Raw(FieldOf(wire.bytes, 1).bytes);
      case Shape::kTime: return Time(wire.bytes, false);
      case Shape::kMicroTime: return Time(wire.bytes, true);
      case Shape::kIntOrString: {
        const bool is_text = FieldOf(wire.bytes, 1).integer == 1;
        if (is_text) return std::string(FieldOf(wire.bytes, 3).bytes);
        return int32_t(FieldOf(wire.bytes, 2).integer);
      }
      default: return nullptr;
    }
  }

  Wire FieldOf(std::string_view bytes, uint32_t number) {
    Reader reader(bytes);
    Wire wire, found;
    while (reader.Next(wire)) {
      if (wire.number == number) found = wire;
    }
    good = good && reader.good();
    return found;
  }

  // The zero time, which is year 1, is an empty message and means absent.
  Json Time(std::string_view bytes, bool micro) {
    if (bytes.empty()) return nullptr;
    const int64_t ms = int64_t(FieldOf(bytes, 1).integer) * 1000;
    if (!micro) return base::FormatTime(ms);
    std::string text = base::FormatMicroTime(ms);
    const std::string micros = fmt::format("{:06}", FieldOf(bytes, 2).integer / 1000 % 1'000'000);
    return text.replace(text.size() - 7, 6, micros);
  }

  static Json Raw(std::string_view text) {
    Json value = cluster::ParseJson(text);
    return value.is_discarded() ? Json() : value;
  }
};

const Type* TypeFor(const std::string& api_version, const std::string& kind) {
  const bool modern_event = kind == "Event" && api_version.starts_with("events.k8s.io/");
  return TypeTable::Get().Find(modern_event ? "EventsEvent" : kind);
}

}  // namespace

ApiResult<Json> ParseProtobufBody(std::string_view body) {
  const auto malformed = [] {
    return tl::make_unexpected(BadRequest("the body of the request is not valid application/vnd.kubernetes.protobuf"));
  };
  if (!body.starts_with(kEnvelope)) return malformed();
  Reader envelope(body.substr(kEnvelope.size()));
  Wire wire;
  std::string api_version, kind;
  std::string_view raw;
  while (envelope.Next(wire)) {
    if (wire.number == 2) raw = wire.bytes;
    if (wire.number != 1) continue;
    Reader type_meta(wire.bytes);
    Wire part;
    while (type_meta.Next(part)) {
      if (part.number == 1) api_version = part.bytes;
      if (part.number == 2) kind = part.bytes;
    }
    if (!type_meta.good()) return malformed();
  }
  if (!envelope.good()) return malformed();
  const Type* type = TypeFor(api_version, kind);
  if (!type) {
    return tl::make_unexpected(UnsupportedMediaType(
        fmt::format("{} {} is not accepted as protobuf here - accepted media types include: application/json, "
                    "application/yaml",
                    api_version, kind)));
  }
  Decoder decoder;
  Json object = decoder.Message(*type, raw, 0);
  if (!decoder.good) return malformed();
  object["apiVersion"] = api_version;
  object["kind"] = kind;
  return object;
}

}  // namespace tutti::sim
