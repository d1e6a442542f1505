// SPDX-License-Identifier: Apache-2.0
#include "cluster/json_text.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>

#include "base/json.h"

namespace tutti::cluster {
namespace {

using base::Json;

constexpr size_t kKept = 256 * 1024;  // a parser takes some ten times what it has read at most

enum class Managed { kKeep, kLeaveOut };

// The library's answers are taken without a check: the type has been asked. `key` is that of the element.
Json FromDom(const simdjson::dom::element& element, Managed managed, std::string_view key = "") {
  using Type = simdjson::dom::element_type;
  switch (element.type()) {
    case Type::OBJECT: {
      const simdjson::dom::object from = element.get_object().value_unsafe();
      std::vector<Json::object_t::value_type> fields;
      fields.reserve(from.size());
      const bool lean = managed == Managed::kLeaveOut && key == "metadata";
      for (const auto& [name, value] : from)
        if (!lean || name != "managedFields") fields.emplace_back(name, FromDom(value, managed, name));
      return Json::object_t::Of(std::move(fields));
    }
    case Type::ARRAY: {
      const simdjson::dom::array from = element.get_array().value_unsafe();
      Json::array_t items;
      items.reserve(from.size());
      for (const simdjson::dom::element item : from) items.push_back(FromDom(item, managed));
      return items;
    }
    case Type::STRING: return element.get_string().value_unsafe();
    case Type::INT64: {
      const int64_t number = element.get_int64().value_unsafe();
      return number < 0 ? Json(number) : Json(static_cast<uint64_t>(number));
    }
    case Type::UINT64: return element.get_uint64().value_unsafe();
    case Type::DOUBLE: return element.get_double().value_unsafe();
    case Type::BOOL: return element.get_bool().value_unsafe();
    case Type::NULL_VALUE: break;
  }
  return nullptr;
}

// Empty where it is no JSON, or holds what only the other parser takes: numbers beyond 64 bits, a byte order mark.
std::optional<Json> ParseQuickly(std::string_view text, Managed managed) {
  const auto parsed_by = [=](simdjson::dom::parser& parser) -> std::optional<Json> {
    if (parser.max_depth() != kDeepestJson && parser.allocate(text.size(), kDeepestJson)) return std::nullopt;
    const auto root = parser.parse(text.data(), text.size());
    if (root.error()) return std::nullopt;
    return FromDom(root.value_unsafe(), managed);
  };
  if (text.size() > kKept) {
    simdjson::dom::parser once;
    return parsed_by(once);
  }
  thread_local simdjson::dom::parser kept;
  return parsed_by(kept);
}

// Calls f(after, depth) behind each bracket that is in no string, until it says false; `depth` counts what is open.
template <typename F>
void ForEachBracket(std::string_view text, F&& f) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '[':
      case '{':
        if (!f(at + 1, ++depth)) return;
        break;
      case ']':
      case '}':
        depth -= depth > 0;
        if (!f(at + 1, depth)) return;
        break;
      case '"':
        for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
        break;
      default: break;
    }
  }
}

// What the library does not take goes by way of a tree, into which keys in any order go at the same cost.
Json Parse(std::string_view text, Managed managed) {
  using Tree = nlohmann::json;
  if (text.empty()) return Json(Json::value_t::discarded);  // simdjson wants bytes, even if there are none
  if (auto json = ParseQuickly(text, managed)) return *std::move(json);
  if (JsonDepth(text) <= kDeepestJson) return Json(Tree::parse(text, nullptr, /*allow_exceptions=*/false));
  const auto keep = [](int depth, Tree::parse_event_t, Tree&) { return static_cast<size_t>(depth) < kDeepestJson; };
  return Json(Tree::parse(text, keep, /*allow_exceptions=*/false));
}

}  // namespace

size_t JsonDepth(std::string_view text) {
  size_t deepest = 0;
  ForEachBracket(text, [&](size_t, size_t depth) { return deepest = std::max(deepest, depth), true; });
  return deepest;
}

size_t EndOfJson(std::string_view text) {
  size_t end = std::string_view::npos;
  ForEachBracket(text, [&](size_t after, size_t depth) { return depth > 0 || (end = after, false); });
  return end;
}

base::Json ParseJson(std::string_view text) { return Parse(text, Managed::kKeep); }

base::Json ParseObject(std::string_view text) { return Parse(text, Managed::kLeaveOut); }

}  // namespace tutti::cluster
