// SPDX-License-Identifier: Apache-2.0
#include "sim/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

namespace tutti::sim {
namespace {

// Aliases can make a small text stand for an enormous tree.
constexpr int64_t kMaxNodes = 5'000'000;
constexpr int kMaxDepth = 200;

// Thrown and caught in this file, next to yaml-cpp's own exceptions.
struct Bad {
  YAML::Mark mark;
  std::string why;
};

const std::set<std::string_view>& Trues() {
  static const std::set<std::string_view> words = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                   "True", "TRUE", "on",  "On",  "ON"};
  return words;
}

const std::set<std::string_view>& Falses() {
  static const std::set<std::string_view> words = {"n",     "N",     "no",  "No",  "NO", "false",
                                                   "False", "FALSE", "off", "Off", "OFF"};
  return words;
}

bool IsNull(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

// Go's ParseInt(text, base 0): 0x, 0o, 0b, and a leading 0 means octal.
std::optional<Json> AsInteger(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) text.remove_prefix(1);
  int base = 10;
  const auto starts = [&](char lower, char upper) {
    return text.size() > 2 && text[0] == '0' && (text[1] == lower || text[1] == upper);
  };
  if (starts('x', 'X')) {
    base = 16, text.remove_prefix(2);
  } else if (starts('o', 'O')) {
    base = 8, text.remove_prefix(2);
  } else if (starts('b', 'B')) {
    base = 2, text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8, text.remove_prefix(1);
  }
  uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (!negative) return magnitude <= INT64_MAX ? Json(int64_t(magnitude)) : Json(magnitude);
  if (magnitude > uint64_t(INT64_MAX) + 1) return std::nullopt;
  return Json(int64_t(0 - magnitude));
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  size_t i = 0;
  const auto digits = [&] {
    const size_t begin = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - begin;
  };
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  const size_t whole = digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

std::optional<Json> AsFloat(const std::string& text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  const double value = std::strtod(text.c_str(), nullptr);
  if (!std::isfinite(value)) return std::nullopt;
  // On its way through JSON 1.0 becomes 1, which everyone then reads as an integer.
  if (value == std::floor(value) && std::fabs(value) < 9.0e15) return Json(int64_t(value));
  return Json(value);
}

Json Resolve(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  const std::string& tag = node.Tag();
  if (tag == "!" || tag == "tag:yaml.org,2002:str") return text;
  if (IsNull(text)) return nullptr;
  if (Trues().contains(text)) return true;
  if (Falses().contains(text)) return false;
  if (text.find_first_of("0123456789") == std::string::npos) {
    if (text == ".inf" || text == "-.inf" || text == ".nan") throw Bad{node.Mark(), text + " is no JSON value"};
    return text;
  }
  if (std::string_view("+-.0123456789").find(text[0]) == std::string_view::npos) return text;
  std::string plain = text;
  std::erase(plain, '_');
  if (auto integer = AsInteger(plain)) return *integer;
  if (auto number = AsFloat(plain)) return *number;
  return text;
}

class Converter {
 public:
  Json Convert(const YAML::Node& node, int depth = 0) {
    if (depth > kMaxDepth) throw Bad{node.Mark(), "nested too deeply"};
    if (++nodes_ > kMaxNodes) throw Bad{node.Mark(), "too large when its aliases are expanded"};
    switch (node.Type()) {
      case YAML::NodeType::Map: return Map(node, depth);
      case YAML::NodeType::Sequence: {
        Json list = Json::array();
        for (const YAML::Node& item : node) list.push_back(Convert(item, depth + 1));
        return list;
      }
      case YAML::NodeType::Scalar: return Resolve(node);
      default: return nullptr;
    }
  }

 private:
  Json Map(const YAML::Node& node, int depth) {
    Json map = Json::object();
    Json merged = Json::object();
    for (const auto& pair : node) {
      if (!pair.first.IsScalar() && !pair.first.IsNull()) throw Bad{pair.first.Mark(), "a key must be a scalar"};
      const Json key = pair.first.IsNull() ? Json(nullptr) : Resolve(pair.first);
      Json value = Convert(pair.second, depth + 1);
      if (key == "<<" && pair.first.Tag() != "!") {
        Merge(merged, value);
      } else {
        map[key.is_string() ? key.get<std::string>() : key.dump()] = std::move(value);
      }
    }
    for (auto& [key, value] : merged.items()) {
      if (!map.contains(key)) map[key] = value;
    }
    return map;
  }

  static void Merge(Json& merged, const Json& value) {
    for (const Json& each : value.is_array() ? value : Json::array({value})) {
      for (const auto& [key, member] : MapOf(each).items()) {
        if (!merged.contains(key)) merged[key] = member;
      }
    }
  }

  int64_t nodes_ = 0;
};

}  // namespace

base::Result<YamlDocument> ParseYaml(std::string_view text, int first_line) {
  const auto fail = [&](const YAML::Mark& mark, const std::string& why) {
    return base::Invalid(fmt::format("line {}: {}", first_line + (mark.is_null() ? 0 : mark.line), why));
  };
  try {
    const YAML::Node node = YAML::Load(std::string(text));
    if (!node || node.IsNull()) return YamlDocument{nullptr, first_line};
    return YamlDocument{Converter().Convert(node), first_line + node.Mark().line};
  } catch (const Bad& bad) {
    return fail(bad.mark, bad.why);
  } catch (const YAML::Exception& error) {
    return fail(error.mark, error.msg);
  } catch (const std::exception& error) {
    return fail(YAML::Mark::null_mark(), error.what());
  }
}

}  // namespace tutti::sim
