// SPDX-License-Identifier: Apache-2.0
#include "cluster/json_reader.h"

#include <fmt/format.h>

#include <utility>

#include "base/json.h"
#include "base/json_string.h"
#include "base/text.h"
#include "model/quantity.h"

namespace tutti::cluster {
namespace {

using Json = base::Json;

constexpr size_t kShown = 64;
constexpr size_t kKept = 16;

const Json kNull;

// Numbers as their text: "cpu: 1" is as good as "cpu: '1'".
std::optional<std::string> QuantityText(const Json& value) {
  if (const auto* text = value.get_ptr<const std::string*>()) return *text;
  if (value.is_number()) return base::PrintJson(value);
  return std::nullopt;
}

}  // namespace

std::string Describe(const Json& value) {
  std::string text = base::PrintJson(value);
  if (text.size() > kShown) text.replace(base::Cut(text, kShown).size(), std::string::npos, "…");
  return text;
}

JsonField JsonField::operator[](std::string_view key) const& {
  const Json* value = &kNull;
  if (const auto* object = value_->get_ptr<const Json::object_t*>()) {
    if (const auto at = object->find(key); at != object->end()) value = &at->second;
  }
  return {value, this, key, -1};
}

bool JsonField::present() const { return !value_->is_null(); }

std::string JsonField::Path() const {
  if (!parent_) return "";
  std::string path = parent_->Path();
  if (index_ >= 0) return fmt::format("{}[{}]", path, index_);
  // A key such as "nvidia.com/gpu" would read as two steps.
  if (key_.find('.') != std::string_view::npos) return fmt::format("{}[\"{}\"]", path, key_);
  return path.empty() ? std::string(key_) : fmt::format("{}.{}", path, key_);
}

std::vector<std::string> JsonReader::TakeProblems() {
  if (found_ > kKept) problems_.push_back(fmt::format("and {} more", found_ - kKept));
  found_ = 0;
  return std::exchange(problems_, {});
}

void JsonReader::Problem(const JsonField& field, std::string_view what) {
  if (++found_ > kKept) return;
  const std::string path = field.Path();
  problems_.push_back(path.empty() ? std::string(what) : fmt::format("{}: {}", path, what));
}

std::string JsonReader::Text(const JsonField& field) {
  if (const auto* text = field.value().get_ptr<const std::string*>()) return *text;
  if (field.present()) Problem(field, fmt::format("{} is not a string", Describe(field.value())));
  return {};
}

int64_t JsonReader::Integer(const JsonField& field, int64_t fallback) {
  if (!field.present()) return fallback;
  const Json& value = field.value();
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    Problem(field, fmt::format("{} is too large a number", Describe(value)));
    return fallback;
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  Problem(field, fmt::format("{} is not a whole number", Describe(value)));
  return fallback;
}

bool JsonReader::Flag(const JsonField& field) {
  if (field.value().is_boolean()) return field.value().get<bool>();
  if (field.present()) Problem(field, fmt::format("{} is neither true nor false", Describe(field.value())));
  return false;
}

base::Millis JsonReader::Time(const JsonField& field, base::Millis fallback) {
  const std::string text = Text(field);
  if (text.empty()) return fallback;
  const auto time = base::ParseTime(text);
  if (time) return *time;
  Problem(field, time.error().message);
  return fallback;
}

std::vector<std::string> JsonReader::Texts(const JsonField& field) {
  std::vector<std::string> texts;
  Items(field, [&](const JsonField& item) { texts.push_back(Text(item)); });
  return texts;
}

model::StringMap JsonReader::Map(const JsonField& field) {
  model::StringMap map;
  // nlohmann's objects are sorted by key, as StringMap wants it.
  Values(field, [&](std::string_view key, const JsonField& value) { map.emplace_back(key, Text(value)); });
  return map;
}

model::ResourceList JsonReader::Resources(const JsonField& field) {
  model::ResourceList list;
  Values(field, [&](std::string_view name, const JsonField& value) {
    if (!value.present()) return;
    const auto text = QuantityText(value.value());
    if (!text) return Problem(value, fmt::format("{} is not a quantity", Describe(value.value())));
    const auto parsed = name == model::kCpu ? model::ParseMilli(*text) : model::ParseUnits(*text);
    if (!parsed) return Problem(value, parsed.error().message);
    if (parsed->value < 0) return Problem(value, fmt::format("\"{}\" is negative; write 0 or more", *text));
    list.Set(name, parsed->value);
  });
  return list;
}

std::vector<model::Requirement> JsonReader::Requirements(const JsonField& field) {
  std::vector<model::Requirement> requirements;
  Items(field, [&](const JsonField& item) {
    requirements.push_back({Text(item["key"]), model::ParseOperator(Text(item["operator"])), Texts(item["values"])});
  });
  return requirements;
}

std::optional<model::LabelSelector> JsonReader::Selector(const JsonField& field) {
  if (!field.present()) return std::nullopt;
  if (!field.value().is_object()) {
    Problem(field, fmt::format("{} is not an object", Describe(field.value())));
    return std::nullopt;
  }
  return model::LabelSelector{Map(field["matchLabels"]), Requirements(field["matchExpressions"])};
}

void JsonReader::Items(const JsonField& list, const std::function<void(const JsonField&)>& each) {
  if (!list.present()) return;
  if (!list.value().is_array()) return Problem(list, fmt::format("{} is not a list", Describe(list.value())));
  int64_t index = 0;
  for (const Json& item : list.value()) each(JsonField(&item, &list, {}, index++));
}

void JsonReader::Values(const JsonField& object, const std::function<void(std::string_view, const JsonField&)>& each) {
  if (!object.present()) return;
  if (!object.value().is_object()) return Problem(object, fmt::format("{} is not an object", Describe(object.value())));
  for (const auto& [key, value] : object.value().get_ref<const Json::object_t&>()) {
    each(key, JsonField(&value, &object, key, -1));
  }
}

}  // namespace tutti::cluster
