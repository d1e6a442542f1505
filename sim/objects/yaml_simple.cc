// SPDX-License-Identifier: Apache-2.0
#include "sim/objects/yaml_simple.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/yaml_scalar.h"

namespace tutti::sim {
namespace {

// The general reader counts how much there is, and how deep.
constexpr size_t kMostText = 8 << 20;
constexpr int kMostDepth = 50;
constexpr size_t kLongestKey = 128;

bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool IsWord(char c) { return IsWordStart(c) || c == '.' || c == '/' || c == '-'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsPrintable(char c) { return c >= ' ' && c <= '~'; }
bool IsItem(std::string_view text) { return text == "-" || text.starts_with("- "); }

std::string_view WithoutBlanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

// Each method that returns an optional takes what it reads from what is left; empty: it cannot be read here.
class Reader {
 public:
  Reader(std::string_view text, YamlBlocks* blocks) : rest_(text), blocks_(blocks) {}

  std::optional<SimpleYaml> Read() {
    if (rest_.size() > kMostText) return std::nullopt;
    Next();
    if (!more_) return std::nullopt;
    const int line = line_.number;
    auto value = Block(line_.indent, 0);
    if (!value || more_ || bad_) return std::nullopt;
    return SimpleYaml{*std::move(value), line};
  }

 private:
  struct Line {
    size_t indent;
    std::string_view text;  // without blanks at either end
    int number;
  };

  // Goes on to the next line that has content.
  void Next() {
    more_ = false;
    while (!rest_.empty() && !more_) {
      std::string_view line = rest_.substr(0, rest_.find('\n'));
      rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
      const int number = lines_++;
      bad_ = bad_ || !std::ranges::all_of(line, IsPrintable);
      if (bad_) return;
      const size_t indent = line.find_first_not_of(' ');
      if (indent == std::string_view::npos || line[indent] == '#') continue;
      line_ = {indent, line.substr(indent, line.find_last_not_of(' ') + 1 - indent), number};
      more_ = true;
    }
  }

  bool IsAt(size_t indent) const { return more_ && line_.indent == indent; }
  bool IsDeeper(size_t indent) const { return more_ && line_.indent > indent; }

  std::optional<Json> Block(size_t indent, int depth) {
    if (depth > kMostDepth) return std::nullopt;
    return IsItem(line_.text) ? List(indent, depth) : Map(indent, depth);
  }

  std::optional<Json> Map(size_t indent, int depth) {
    Json map = Json::object();
    while (IsAt(indent) && !IsItem(line_.text)) {
      std::string_view rest = line_.text;
      auto key = Key(rest);
      if (!key || map.contains(*key)) return std::nullopt;
      std::optional<Json> value;
      if (rest.empty() && depth == 0 && indent == 0 && blocks_ != nullptr) {
        value = OuterBlock();
      } else {
        Next();
        value = rest.empty() ? Below(indent, depth) : Inline(rest, indent, depth);
      }
      if (!value) return std::nullopt;
      map[*std::move(key)] = *std::move(value);
    }
    if (IsDeeper(indent) || map.empty()) return std::nullopt;
    return map;
  }

  // What is below a key.
  std::optional<Json> Below(size_t indent, int depth) {
    if (IsDeeper(indent)) return Block(line_.indent, depth + 1);
    if (IsAt(indent) && IsItem(line_.text)) return List(indent, depth + 1);
    return Json(nullptr);
  }

  // The same below a key of the outermost map, which stands in the line before `rest_`.
  std::optional<Json> OuterBlock() {
    const std::string_view text = rest_.substr(0, EndOfBlock());
    if (const YamlBlock* known = blocks_->Find([&](const YamlBlock& each) { return each.text == text; })) {
      rest_.remove_prefix(text.size());
      Next();
      return known->value;
    }
    Next();
    const bool is_block = IsDeeper(0);
    auto value = Below(0, 0);
    if (!value || bad_ || !is_block || IsDeeper(0)) return value;
    base::Freeze(*value);
    return blocks_->Put({std::string(text), *std::move(value)}).value;
  }

  // Up to the next line that is not indented, blank or a comment.
  size_t EndOfBlock() const {
    size_t end = 0;
    while (end < rest_.size() && (rest_[end] == ' ' || rest_[end] == '\n' || rest_[end] == '#'))
      end = std::min(rest_.find('\n', end), rest_.size() - 1) + 1;
    return end;
  }

  std::optional<Json> List(size_t indent, int depth) {
    Json list = Json::array();
    while (IsAt(indent) && IsItem(line_.text)) {
      std::string_view rest = WithoutBlanks(line_.text.substr(1));
      if (rest.empty()) return std::nullopt;
      std::optional<Json> value;
      if (std::string_view key = rest; IsItem(rest) || Key(key)) {  // the item begins on this line
        line_.indent += line_.text.size() - rest.size();
        line_.text = rest;
        value = Block(line_.indent, depth + 1);
      } else {
        Next();
        value = Inline(rest, indent, depth);
      }
      if (!value) return std::nullopt;
      list.push_back(*std::move(value));
    }
    if (IsDeeper(indent)) return std::nullopt;
    return list;
  }

  // With the colon, and the blanks behind it.
  static std::optional<std::string> Key(std::string_view& rest) {
    if (rest.empty() || !IsWordStart(rest[0])) return std::nullopt;
    const size_t end = size_t(std::ranges::find_if_not(rest, IsWord) - rest.begin());
    if (end == rest.size() || end > kLongestKey || rest[end] != ':') return std::nullopt;
    if (end + 1 < rest.size() && rest[end + 1] != ' ') return std::nullopt;
    std::string key(rest.substr(0, end));
    const auto meant = base::PlainScalar(key);
    if (!meant || !meant->is_string()) return std::nullopt;
    rest = WithoutBlanks(rest.substr(end + 1));
    return key;
  }

  // All the rest of a line, which does not go on in the next.
  std::optional<Json> Inline(std::string_view rest, size_t indent, int depth) {
    auto value = Value(rest, /*flow=*/false, depth + 1);
    if (!rest.empty() || IsDeeper(indent)) return std::nullopt;
    return value;
  }

  static std::optional<Json> Value(std::string_view& rest, bool flow, int depth) {
    if (depth > kMostDepth || rest.empty()) return std::nullopt;
    if (rest[0] == '{') return FlowMap(rest, depth);
    if (rest[0] == '[') return FlowList(rest, depth);
    if (rest[0] == '"' || rest[0] == '\'') return Quoted(rest);
    return Plain(rest, flow);
  }

  static bool Skip(std::string_view& rest, char c) {
    rest = WithoutBlanks(rest);
    if (!rest.starts_with(c)) return false;
    rest = WithoutBlanks(rest.substr(1));
    return true;
  }

  static std::optional<Json> FlowMap(std::string_view& rest, int depth) {
    Json map = Json::object();
    Skip(rest, '{');
    if (rest.starts_with('}')) return End(rest, std::move(map));
    do {
      auto key = Key(rest);
      if (!key || map.contains(*key)) return std::nullopt;
      auto value = Value(rest, /*flow=*/true, depth + 1);
      if (!value) return std::nullopt;
      map[*std::move(key)] = *std::move(value);
    } while (Skip(rest, ','));
    if (!rest.starts_with('}')) return std::nullopt;
    return End(rest, std::move(map));
  }

  static std::optional<Json> FlowList(std::string_view& rest, int depth) {
    Json list = Json::array();
    Skip(rest, '[');
    if (rest.starts_with(']')) return End(rest, std::move(list));
    do {
      auto value = Value(rest, /*flow=*/true, depth + 1);
      if (!value) return std::nullopt;
      list.push_back(*std::move(value));
    } while (Skip(rest, ','));
    if (!rest.starts_with(']')) return std::nullopt;
    return End(rest, std::move(list));
  }

  static Json End(std::string_view& rest, Json value) {
    rest.remove_prefix(1);
    return value;
  }

  static std::optional<Json> Quoted(std::string_view& rest) {
    const char quote = rest[0];
    const size_t end = rest.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    // Two single quotes are one; a backslash in double quotes begins an escape.
    if (rest.starts_with(quote) || (quote == '"' && text.find('\\') != std::string_view::npos)) return std::nullopt;
    return Json(std::string(text));
  }

  // In a block, all the rest of the line; in a flow, words with one blank between them.
  static std::optional<Json> Plain(std::string_view& rest, bool flow) {
    const auto starts_word = [&](size_t i) { return i < rest.size() && (IsWordStart(rest[i]) || rest[i] == '/'); };
    const bool is_signed = rest.size() > 1 && rest[0] == '+' && IsDigit(rest[1]);
    const bool is_path = rest.size() > 1 && rest[0] == '.' && IsWordStart(rest[1]) && !IsDigit(rest[1]);
    const size_t dashes = std::min(rest.find_first_not_of('-'), rest.size());  // of -1, -c, --flag
    if (!is_signed && !is_path && !(dashes <= 2 && starts_word(dashes))) return std::nullopt;
    size_t end = rest.size();
    if (flow) {
      end = dashes + 1;
      while (end < rest.size() && (IsWord(rest[end]) || (rest[end] == ' ' && starts_word(end + 1)))) ++end;
    } else if (rest.ends_with(':') || rest.find(": ") != rest.npos || rest.find(" #") != rest.npos) {
      return std::nullopt;
    }
    const std::string text(rest.substr(0, end));
    rest.remove_prefix(end);
    return base::PlainScalar(text);
  }

  std::string_view rest_;  // behind line_
  YamlBlocks* const blocks_;
  Line line_{};        // the one to read next
  bool more_ = false;  // there is one
  bool bad_ = false;   // a line has what cannot be read here
  int lines_ = 0;      // until the first with content: those before rest_
};

}  // namespace

std::optional<SimpleYaml> ReadSimpleYaml(std::string_view text, YamlBlocks* blocks) {
  return Reader(text, blocks).Read();
}

}  // namespace tutti::sim
