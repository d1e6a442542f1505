// SPDX-License-Identifier: Apache-2.0
#include "app/output.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tutti::app {
namespace {

using Json = nlohmann::ordered_json;

// A plain scalar that a reader would take for something else than a string.
bool NeedsQuotes(const std::string& text) {
  static const std::vector<std::string> kWords = {"null", "Null", "NULL", "~",  "true", "True", "TRUE", "false", "False",
                                                  "FALSE", "yes", "no",   "on", "off",  "Yes",  "No",   "On",    "Off",
                                                  "y",     "n",   "Y",    "N",  ""};
  if (std::find(kWords.begin(), kWords.end(), text) != kWords.end()) return true;
  return text.find_first_not_of("0123456789.+-eExXoabcdefABCDEF_:TZ") == std::string::npos &&
         text.find_first_of("0123456789") != std::string::npos;
}

void Emit(YAML::Emitter& out, const Json& value) {
  if (value.is_object()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginMap;
    for (const auto& [key, item] : value.items()) {
      out << YAML::Key << key << YAML::Value;
      Emit(out, item);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const Json& item : value) Emit(out, item);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (NeedsQuotes(text)) out << YAML::DoubleQuoted;
    out << text;
  } else {
    out << value.dump();
  }
}

}  // namespace

std::string ToJsonText(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string ToYamlText(const Json& value) {
  YAML::Emitter out;
  Emit(out, value);
  return std::string(out.c_str()) + "\n";
}

std::string Table::Text() const {
  std::vector<size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(widths[i] - row[i].size() + 3, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace tutti::app
