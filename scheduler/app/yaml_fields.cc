// SPDX-License-Identifier: Apache-2.0
#include "app/yaml_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/duration.h"
#include "base/json.h"
#include "base/yaml_node.h"

namespace tutti::app {
namespace {

// Returns the value of a plain scalar; a quoted one is its text.
base::Json Meant(const YAML::Node& node) { return base::YamlToJson(node).value_or(base::Json(node.Scalar())); }

std::optional<int64_t> AsInteger(const YAML::Node& node) {
  const base::Json value = Meant(node);
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}) return std::nullopt;
  return value.get<int64_t>();
}

std::string_view KindOf(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a sequence";
  return "a scalar";
}

}  // namespace

std::string InOneLine(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  return text;
}

void Complaints::Add(const YAML::Node& at, std::string_view field, std::string_view what) {
  const YAML::Mark mark = at.IsDefined() ? at.Mark() : YAML::Mark::null_mark();
  const std::string line = mark.is_null() ? "" : fmt::format("{}:", mark.line + 1);
  const std::string of = field.empty() ? "" : fmt::format("{}: ", field);
  lines_.push_back(InOneLine(fmt::format("{}:{} {}{}", file_, line, of, what)));
}

Fields::Fields(const YAML::Node& node, std::string path, Complaints* complaints)
    : node_(node), path_(std::move(path)), complaints_(complaints) {
  if (!node_.IsDefined() || node_.IsNull() || node_.IsMap()) return;
  complaints_->Add(node_, path_, fmt::format("is {}; a mapping is expected here", KindOf(node_)));
  node_.reset(YAML::Node());
}

std::string Fields::PathOf(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

std::string Fields::Where() const {
  const YAML::Mark mark = node_.Mark();
  return fmt::format("{}:{}: {}", complaints_->file(), mark.is_null() ? 0 : mark.line + 1, path_);
}

bool Fields::Has(std::string_view name) const {
  return node_.IsMap() && node_[std::string(name)].IsDefined() && !node_[std::string(name)].IsNull();
}

YAML::Node Fields::Take(std::string_view name) {
  known_.push_back(name);
  if (!Has(name)) return YAML::Node(YAML::NodeType::Undefined);
  return node_[std::string(name)];
}

const YAML::Node* Fields::TakeScalar(std::string_view name, std::string_view expected, YAML::Node* hold) {
  hold->reset(Take(name));
  if (!hold->IsDefined()) return nullptr;
  if (hold->IsScalar()) return hold;
  complaints_->Add(*hold, PathOf(name), fmt::format("is {}; {} is expected", KindOf(*hold), expected));
  return nullptr;
}

void Fields::String(std::string_view name, std::string* out) {
  YAML::Node hold;
  if (const YAML::Node* value = TakeScalar(name, "a string", &hold)) *out = value->Scalar();
}

void Fields::OneOf(std::string_view name, std::initializer_list<std::string_view> allowed, std::string* out) {
  YAML::Node hold;
  const YAML::Node* value = TakeScalar(name, "a word", &hold);
  if (value == nullptr) return;
  if (std::find(allowed.begin(), allowed.end(), value->Scalar()) != allowed.end()) {
    *out = value->Scalar();
    return;
  }
  complaints_->Add(*value, PathOf(name),
                   fmt::format("\"{}\" is not known; write one of: {}", value->Scalar(), fmt::join(allowed, ", ")));
}

void Fields::Bool(std::string_view name, bool* out) {
  YAML::Node hold;
  const YAML::Node* value = TakeScalar(name, "true or false", &hold);
  if (value == nullptr) return;
  if (const base::Json flag = Meant(*value); flag.is_boolean()) {
    *out = flag.get<bool>();
  } else {
    complaints_->Add(*value, PathOf(name), fmt::format("\"{}\": write true or false", value->Scalar()));
  }
}

void Fields::Integer(std::string_view name, int64_t least, int64_t most, int64_t* out) {
  YAML::Node hold;
  const YAML::Node* value = TakeScalar(name, "a whole number", &hold);
  if (value == nullptr) return;
  const auto integer = AsInteger(*value);
  if (integer && *integer >= least && *integer <= most) {
    *out = *integer;
  } else {
    complaints_->Add(*value, PathOf(name),
                     fmt::format("\"{}\": write a whole number from {} to {}", value->Scalar(), least, most));
  }
}

void Fields::Number(std::string_view name, double* out) {
  YAML::Node hold;
  const YAML::Node* value = TakeScalar(name, "a number", &hold);
  if (value == nullptr) return;
  if (const base::Json number = Meant(*value); number.is_number()) {
    *out = number.get<double>();
  } else {
    complaints_->Add(*value, PathOf(name), fmt::format("\"{}\": write a number", value->Scalar()));
  }
}

void Fields::Duration(std::string_view name, base::Millis* out) {
  YAML::Node hold;
  const YAML::Node* value = TakeScalar(name, "a duration", &hold);
  if (value == nullptr) return;
  if (const auto duration = base::ParseDuration(value->Scalar())) {
    *out = *duration;
  } else {
    complaints_->Add(
        *value, PathOf(name),
        fmt::format("\"{}\" is no duration; write it as \"15s\", \"1m30s\" or \"500ms\"", value->Scalar()));
  }
}

void Fields::Json(std::string_view name, base::Json* out) {
  const YAML::Node value = Take(name);
  if (!value.IsDefined()) return;
  if (auto json = base::YamlToJson(value)) {
    *out = *std::move(json);
  } else {
    complaints_->Add(value, PathOf(name), json.error().message);
  }
}

Fields Fields::Map(std::string_view name) { return Fields(Take(name), PathOf(name), complaints_); }

void Fields::Sequence(std::string_view name, const std::function<void(Fields&)>& each) {
  const YAML::Node value = Take(name);
  if (!value.IsDefined()) return;
  if (!value.IsSequence()) {
    complaints_->Add(value, PathOf(name), fmt::format("is {}; a sequence (- ...) is expected", KindOf(value)));
    return;
  }
  for (size_t i = 0; i < value.size(); ++i) {
    Fields item(value[i], fmt::format("{}[{}]", PathOf(name), i), complaints_);
    each(item);
  }
}

void Fields::Accept(std::string_view name) { known_.push_back(name); }

void Fields::Complain(std::string_view name, std::string_view what) {
  complaints_->Add(name.empty() || !Has(name) ? node_ : node_[std::string(name)], name.empty() ? path_ : PathOf(name),
                   what);
}

void Fields::Done() {
  if (!node_.IsMap()) return;
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "?";
    if (!seen.insert(name).second) {
      complaints_->Add(entry.first, PathOf(name), "is there twice; remove one");
    } else if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
      const std::string_view meant = Closest(name, known_);
      complaints_->Add(entry.first, PathOf(name),
                       meant.empty() ? fmt::format("unknown field; known here: {}", fmt::join(known_, ", "))
                                     : fmt::format("unknown field; did you mean {}?", meant));
    }
  }
}

}  // namespace tutti::app
