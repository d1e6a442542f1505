// SPDX-License-Identifier: Apache-2.0
#include "base/json_string.h"

#include <charconv>
#include <cstdint>
#include <cstring>

#include "base/json.h"

namespace tutti::base {
namespace {

// Some character needs an escape, or is not of ASCII. Eight are looked at at a time.
bool AnySpecial(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x80 * kOnes;
  const auto has_zero = [](uint64_t x) { return (x - kOnes) & ~x & kHighs; };
  const auto special = [&](uint64_t x) {
    const uint64_t control = (x - ' ' * kOnes) & ~x & kHighs;
    const uint64_t beyond = ((x + kOnes) | x) & kHighs;  // DEL, and what is not of ASCII
    return control | beyond | has_zero(x ^ '"' * kOnes) | has_zero(x ^ '\\' * kOnes);
  };
  uint64_t found = 0, word = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    found |= special(word);
  }
  word = ' ' * kOnes;
  if (!text.empty()) std::memcpy(&word, text.data(), text.size());
  return (found | special(word)) != 0;
}

template <class Number>
void AppendNumber(Number number, std::string* to) {
  char digits[20];
  to->append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void AppendArray(const Json::array_t& items, std::string* to) {
  *to += '[';
  for (const Json& item : items) {
    if (&item != items.data()) *to += ',';
    AppendJson(item, to);
  }
  *to += ']';
}

void AppendObject(const Json::object_t& fields, std::string* to) {
  *to += '{';
  for (auto field = fields.begin(); field != fields.end(); ++field) {
    if (field != fields.begin()) *to += ',';
    AppendQuoted(field->first, to);
    *to += ':';
    AppendJson(field->second, to);
  }
  *to += '}';
}

}  // namespace

// Names, UIDs and most sentences need no more than the quotes.
void AppendQuoted(std::string_view text, std::string* to) {
  if (AnySpecial(text)) {
    *to += base::Json(text).dump(-1, ' ', false, base::Json::error_handler_t::replace);
    return;
  }
  const size_t at = to->size() + 1;
  to->resize(at + text.size() + 1, '"');
  if (!text.empty()) std::memcpy(to->data() + at, text.data(), text.size());
}

void AppendJson(const Json& value, std::string* to) {
  switch (value.type()) {
    case Json::value_t::object: return AppendObject(value.get_ref<const Json::object_t&>(), to);
    case Json::value_t::array: return AppendArray(value.get_ref<const Json::array_t&>(), to);
    case Json::value_t::string: return AppendQuoted(value.get_ref<const std::string&>(), to);
    case Json::value_t::number_integer: return AppendNumber(value.get<int64_t>(), to);
    case Json::value_t::number_unsigned: return AppendNumber(value.get<uint64_t>(), to);
    default: *to += value.dump(); return;
  }
}

std::string PrintJson(const Json& value) {
  std::string text;
  AppendJson(value, &text);
  return text;
}

void AppendIndented(const nlohmann::ordered_json& value, size_t indent, std::string* to) {
  using Ordered = nlohmann::ordered_json;
  const auto begin_line = [&](bool first) {
    to->append(first ? "\n" : ",\n").append(indent + 2, ' ');
  };
  const auto* object = value.get_ptr<const Ordered::object_t*>();
  const auto* list = value.get_ptr<const Ordered::array_t*>();
  if (object && !object->empty()) {
    *to += '{';
    for (auto field = object->begin(); field != object->end(); ++field) {
      begin_line(field == object->begin());
      AppendQuoted(field->first, to);
      *to += ": ";
      AppendIndented(field->second, indent + 2, to);
    }
    to->append("\n").append(indent, ' ') += '}';
  } else if (list && !list->empty()) {
    *to += '[';
    for (const Ordered& item : *list) {
      begin_line(&item == list->data());
      AppendIndented(item, indent + 2, to);
    }
    to->append("\n").append(indent, ' ') += ']';
  } else if (const auto* text = value.get_ptr<const std::string*>()) {
    AppendQuoted(*text, to);
  } else {
    *to += PrintOrdered(value);
  }
}

std::string PrintOrdered(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tutti::base
