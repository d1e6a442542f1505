// SPDX-License-Identifier: Apache-2.0
#include "app/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <regex>
#include <string_view>

#include "base/json.h"
#include "base/json_string.h"

namespace tutti::app {
namespace {

using Json = nlohmann::ordered_json;

// Whether YAML would read `text` without quotes as something other than a string.
bool NeedsQuotes(const std::string& text) {
  static const std::vector<std::string> kWords = {
      "null", "Null", "NULL", "~",   "true", "True", "TRUE", "false", "False", "FALSE", "yes",  "no", "on", "off",
      "Yes",  "No",   "On",   "Off", "y",    "n",    "Y",    "N",     "",      ".inf",  ".nan", "<<", "="};
  if (std::find(kWords.begin(), kWords.end(), text) != kWords.end()) return true;
  static const std::regex kNumberOrDate(
      R"([-+]?(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?0[xob][\da-fA-F_]+|\d{4}-\d{2}-\d{2}.*)");
  return std::regex_match(text, kNumberOrDate);
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string Scalar(const Json& value) {
  if (!value.is_string()) return base::PrintOrdered(value);
  const std::string& text = value.get_ref<const std::string&>();
  const bool plain = !NeedsQuotes(text) && std::ranges::none_of(text, IsControl) &&
                     text.find_first_of("\"\\") == std::string::npos && text.find(": ") == std::string::npos &&
                     text.find(" #") == std::string::npos &&
                     std::string_view("-?:,[]{}#&*!|>'\"%@` ").find(text.front()) == std::string_view::npos &&
                     text.back() != ':' && text.back() != ' ';
  return plain ? text : base::PrintOrdered(value);  // a JSON string is a YAML string
}

// Escapes control characters, and drops all lines but the first, as kubectl's tables do.
std::string Escaped(const std::string& cell) {
  const size_t end = cell.find_first_of("\f\n\r");
  std::string text;
  for (const char c : cell.substr(0, end)) {
    if (c == '\x1b') {
      text += "^[";
    } else {
      text += c;
    }
  }
  return end == std::string::npos ? text : text + "...";
}

// Appends `value` as kubectl prints YAML: a sequence is not indented below its key. `indent` is the column of the
// value's lines.
void Emit(const Json& value, size_t indent, bool at_line_start, std::string& out) {
  const std::string margin(indent, ' ');
  bool first = !at_line_start;
  const auto begin_line = [&] {
    if (!first) out += margin;
    first = false;
  };
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      begin_line();
      out += Scalar(key) + ":";
      if (item.is_structured() && !item.empty()) {
        out += "\n";
        Emit(item, item.is_array() ? indent : indent + 2, true, out);
      } else {
        out += " " + Scalar(item) + "\n";
      }
    }
  } else {
    for (const Json& item : value) {
      begin_line();
      out += "- ";
      if (item.is_structured() && !item.empty()) {
        Emit(item, indent + 2, false, out);
      } else {
        out += Scalar(item) + "\n";
      }
    }
  }
}

}  // namespace

std::string ToJsonText(const Json& value) {
  std::string text;
  base::AppendIndented(value, 0, &text);
  return text + "\n";
}

std::string ToYamlText(const Json& value) {
  if (!value.is_structured() || value.empty()) return Scalar(value) + "\n";
  std::string out;
  Emit(value, 0, true, out);
  return out;
}

base::Status Print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return {};
  return base::Fail(base::ErrorCode::kUnavailable, fmt::format("standard output: {}", std::strerror(errno)));
}

base::Status WriteFile(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  if (file.write(text.data(), static_cast<std::streamsize>(text.size())) && file.flush()) return {};
  return base::Fail(base::ErrorCode::kUnavailable, fmt::format("{}: {}", path, std::strerror(errno)));
}

std::string EscapedMarkup(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

void ShowNotes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
}

void Table::Add(Row row) {
  for (std::string& cell : row) cell = Escaped(cell);
  rows_.push_back(std::move(row));
}

std::string Table::Text() const {
  std::vector<size_t> widths;
  return Lines(rows_, gap_, &widths);
}

std::string Table::Lines(const std::vector<Row>& rows, size_t gap, std::vector<size_t>* widths) {
  for (const Row& row : rows) {
    widths->resize(std::max(widths->size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) (*widths)[i] = std::max((*widths)[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append((*widths)[i] - row[i].size() + gap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace tutti::app
