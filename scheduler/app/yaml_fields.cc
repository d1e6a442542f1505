// SPDX-License-Identifier: Apache-2.0
#include "app/yaml_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "base/json.h"
#include "sim/duration.h"

namespace tutti::app {
namespace {

bool IsPlain(const YAML::Node& node) { return node.Tag() == "?"; }

std::optional<int64_t> AsInteger(const std::string& text) {
  const char* first = text.data();
  const char* last = first + text.size();
  if (first != last && *first == '+') ++first;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

std::optional<double> AsNumber(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<bool> AsBool(const std::string& text) {
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  return std::nullopt;
}

std::string_view KindOf(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a sequence";
  return "a scalar";
}

base::Json ScalarToJson(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (!IsPlain(node)) return text;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return nullptr;
  if (const auto flag = AsBool(text)) return *flag;
  if (const auto integer = AsInteger(text)) return *integer;
  if (const auto number = AsNumber(text)) return *number;
  return text;
}

// Aliases can make a small text stand for an enormous tree, or for one without an end.
constexpr int64_t kMostNodes = 1'000'000;
constexpr int kDeepest = 200;

class JsonMaker {
 public:
  base::Json Convert(const YAML::Node& node, int depth) {
    if (depth > kDeepest) problem = "is nested too deeply";
    if (++nodes_ > kMostNodes) problem = "is too large with its aliases expanded";
    if (!problem.empty() || !node.IsDefined() || node.IsNull()) return nullptr;
    if (node.IsScalar()) return ScalarToJson(node);
    base::Json out = node.IsSequence() ? base::Json::array() : base::Json::object();
    if (node.IsSequence()) {
      for (auto item = node.begin(); item != node.end() && problem.empty(); ++item)
        out.push_back(Convert(*item, depth + 1));
    } else {
      for (auto entry = node.begin(); entry != node.end() && problem.empty(); ++entry) {
        const std::string& key = entry->first.Scalar();
        if (out.contains(key)) problem = fmt::format("has the key \"{}\" twice; remove one", key);
        out[key] = Convert(entry->second, depth + 1);
      }
    }
    return out;
  }

  std::string problem;  // empty: none

 private:
  int64_t nodes_ = 0;
};

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

base::Result<base::Json> YamlToJson(const YAML::Node& node) {
  JsonMaker maker;
  base::Json out = maker.Convert(node, 0);
  if (!maker.problem.empty()) return base::Invalid(maker.problem);
  return out;
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
  const auto flag = IsPlain(*value) ? AsBool(value->Scalar()) : std::nullopt;
  if (flag) {
    *out = *flag;
  } else {
    complaints_->Add(*value, PathOf(name), fmt::format("\"{}\": write true or false", value->Scalar()));
  }
}

void Fields::Integer(std::string_view name, int64_t least, int64_t most, int64_t* out) {
  YAML::Node hold;
  const YAML::Node* value = TakeScalar(name, "a whole number", &hold);
  if (value == nullptr) return;
  const auto integer = IsPlain(*value) ? AsInteger(value->Scalar()) : std::nullopt;
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
  const auto number = IsPlain(*value) ? AsNumber(value->Scalar()) : std::nullopt;
  if (number) {
    *out = *number;
  } else {
    complaints_->Add(*value, PathOf(name), fmt::format("\"{}\": write a number", value->Scalar()));
  }
}

void Fields::Duration(std::string_view name, base::Millis* out) {
  YAML::Node hold;
  const YAML::Node* value = TakeScalar(name, "a duration", &hold);
  if (value == nullptr) return;
  if (const auto duration = sim::ParseDuration(value->Scalar())) {
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
  if (auto json = YamlToJson(value)) {
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
