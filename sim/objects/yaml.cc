// SPDX-License-Identifier: Apache-2.0
#include "sim/objects/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "base/json_string.h"
#include "base/text.h"
#include "base/yaml_scalar.h"
#include "sim/objects/manifest_hints.h"

namespace tutti::sim {
namespace {

// Aliases can make a small text stand for an enormous tree.
constexpr int64_t kMaxNodes = 5'000'000;
constexpr size_t kMaxDepth = 200;
constexpr const char* kTooDeep = "nested too deeply";

// Thrown and caught in this file, next to yaml-cpp's own exceptions.
struct Bad {
  YAML::Mark mark;
  std::string why;
};

Json Resolve(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
  if (tag == "!" || tag == "tag:yaml.org,2002:str") return text;
  if (auto value = base::PlainScalar(text)) return *std::move(value);
  throw Bad{mark, text + " is no JSON value"};
}

// The value of one document, built while the parser reads it. A second document is refused: yaml-cpp begins one where
// the first cannot go on, and at a "," again and again.
class Builder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(begun_, true))
      throw Bad{mark, "there is more after the end of the document; write --- before it"};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Count(mark, 1);
    Finish(mark, {}, "", anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    Count(mark, 1);
    last_text = mark;
    Finish(mark, {Resolve(mark, tag, text)}, tag, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) throw Bad{mark, "an alias within what it stands for"};
    Count(mark, known->second.nodes);
    if (open_.size() + known->second.height > kMaxDepth) throw Bad{mark, kTooDeep};
    Finish(mark, known->second, "", 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, anchor, Json::array());
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, anchor, Json::object());
  }
  void OnMapEnd() override { Close(); }

  Json root;
  YAML::Mark root_mark;
  YAML::Mark last_text = YAML::Mark::null_mark();     // of the last scalar
  std::optional<Bad> duplicate;                       // the first
  std::function<void(std::string, int line)> on_key;  // is told, where given, the path and the line, from 0

 private:
  struct Value {
    Json json;
    int64_t nodes = 1;
    size_t height = 0;  // of what is nested in it
  };
  // A sequence or a map that is not at its end.
  struct Frame {
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    int64_t counted = 0;  // before it
    Value value;
    Json merged = Json::object();
    std::optional<std::string> key;  // of a map: whose value comes next
    bool merges = false;             // that key is <<
  };

  bool AtKey() const { return !open_.empty() && open_.back().value.json.is_object() && !open_.back().key; }

  void Count(const YAML::Mark& mark, int64_t nodes) {
    nodes_ += nodes;
    if (nodes_ > kMaxNodes) throw Bad{mark, "too large when its aliases are expanded"};
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, Json empty) {
    if (AtKey()) throw Bad{mark, "a key must be a scalar"};
    if (open_.size() > kMaxDepth) throw Bad{mark, kTooDeep};
    Frame& frame = open_.emplace_back();
    frame.mark = mark;
    frame.anchor = anchor;
    frame.counted = nodes_;
    frame.value.json = std::move(empty);
    Count(mark, 1);
  }

  void Close() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    frame.value.nodes = nodes_ - frame.counted;
    for (auto& [key, value] : frame.merged.items()) {
      if (!frame.value.json.contains(key)) frame.value.json[key] = value;
    }
    Finish(frame.mark, std::move(frame.value), "", frame.anchor);
  }

  void Finish(const YAML::Mark& mark, Value value, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) {
      Count(mark, value.nodes);  // the copy
      anchors_[anchor] = value;
    }
    if (open_.empty()) {
      root = std::move(value.json);
      root_mark = mark;
      return;
    }
    if (AtKey()) return TakeKey(mark, value.json, tag);
    Frame& frame = open_.back();
    frame.value.height = std::max(frame.value.height, value.height + 1);
    if (frame.value.json.is_array()) {
      frame.value.json.push_back(std::move(value.json));
    } else if (const std::string key = *std::exchange(frame.key, std::nullopt); frame.merges) {
      Merge(frame.merged, value.json);
    } else {
      frame.value.json[key] = std::move(value.json);
    }
  }

  void TakeKey(const YAML::Mark& mark, const Json& key, const std::string& tag) {
    if (key.is_structured()) throw Bad{mark, "a key must be a scalar"};
    Frame& frame = open_.back();
    frame.key = key.is_string() ? key.get<std::string>() : base::PrintJson(key);
    frame.merges = *frame.key == "<<" && tag != "!";
    if (on_key) on_key(Path(), mark.line);
    if (!duplicate && frame.value.json.contains(*frame.key)) {
      duplicate = Bad{mark, fmt::format("the key \"{}\" is there twice; remove one", *frame.key)};
    }
  }

  // Of the key whose value comes next.
  std::string Path() const {
    std::string path;
    for (const Frame& frame : open_) {
      if (frame.value.json.is_array())
        path += fmt::format("[{}]", frame.value.json.size());
      else
        path += (path.empty() ? "" : ".") + frame.key.value_or("");
    }
    return path;
  }

  static void Merge(Json& merged, const Json& value) {
    for (const Json& each : value.is_array() ? value : Json::array({value})) {
      for (const auto& [key, member] : MapOf(each).items()) {
        if (!merged.contains(key)) merged[key] = member;
      }
    }
  }

  bool begun_ = false;
  int64_t nodes_ = 0;
  std::vector<Frame> open_;
  std::map<YAML::anchor_t, Value> anchors_;
};

// The line, counted from 0, and what is wrong with the first byte that is not UTF-8. What stands before it on its line
// shows the field.
std::optional<std::pair<ptrdiff_t, std::string>> NotUtf8(std::string_view text) {
  constexpr size_t kShown = 64;
  size_t at = 0;
  for (size_t length = 0; at < text.size(); at += length)
    if (length = base::CharacterAt(text, at); length == 0) break;
  if (at == text.size()) return std::nullopt;
  const std::string_view before = text.substr(0, at);
  std::string_view shown = before.substr(before.rfind('\n') + 1);
  shown.remove_prefix(std::min(shown.find_first_not_of(' '), shown.size()));
  while (shown.size() > kShown) shown.remove_prefix(base::CharacterAt(shown, 0));
  return std::pair(std::ranges::count(before, '\n'),
                   fmt::format("the byte {:#04x} after `{}` is not UTF-8; save the text as UTF-8",
                               static_cast<unsigned char>(text[at]), shown));
}

// Whether a quote begins there that does not end: yaml-cpp takes the rest of the text for what is in it.
bool IsOpenQuote(std::string_view text, const YAML::Mark& mark) {
  if (mark.is_null()) return false;
  for (int line = 0; line < mark.line; ++line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  text.remove_prefix(std::min(static_cast<size_t>(mark.column), text.size()));
  if (text.empty() || (text[0] != '"' && text[0] != '\'')) return false;
  for (size_t at = 1; at < text.size(); ++at) {
    const bool escapes = text[0] == '"' ? text[at] == '\\' : text.substr(at, 2) == "''";
    if (escapes)
      ++at;
    else if (text[at] == text[0])
      return false;
  }
  return true;
}

constexpr const char* kOpenQuote = "unexpected end of stream: the quote that begins here does not end";

}  // namespace

base::Result<YamlDocument> ParseYaml(std::string_view text, int first_line, YamlBlocks* blocks) {
  if (auto simple = ReadSimpleYaml(text, blocks))
    return YamlDocument{std::move(simple->value), first_line + simple->line, ""};
  return ParseAnyYaml(text, first_line);
}

base::Result<YamlDocument> ParseAnyYaml(std::string_view text, int first_line) {
  const auto place = [&](const YAML::Mark& mark, const std::string& why) {
    return fmt::format("line {}: {}", first_line + (mark.is_null() ? 0 : mark.line), why);
  };
  const auto refuse = [&](const YAML::Mark& mark, const std::string& why) {
    return base::Invalid(WhyNotYaml(text, first_line, mark.is_null() ? -1 : mark.line, why));
  };
  if (const auto bad = NotUtf8(text))
    return base::Invalid(fmt::format("line {}: {}", first_line + bad->first, bad->second));
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder;
    while (parser.HandleNextDocument(builder)) continue;
    if (IsOpenQuote(text, builder.last_text)) return base::Invalid(place(builder.last_text, kOpenQuote));
    if (builder.root.is_null()) return YamlDocument{nullptr, first_line, ""};
    const auto& twice = builder.duplicate;
    return YamlDocument{std::move(builder.root), first_line + builder.root_mark.line,
                        twice ? place(twice->mark, twice->why) : ""};
  } catch (const Bad& bad) {
    return refuse(bad.mark, bad.why);
  } catch (const YAML::Exception& error) {
    return refuse(error.mark, error.msg);
  } catch (const std::exception& error) {
    return base::Invalid(place(YAML::Mark::null_mark(), error.what()));
  }
}

std::map<std::string, int> LinesOfKeys(std::string_view text, int first_line) {
  std::map<std::string, int> lines;
  Builder builder;
  builder.on_key = [&](std::string path, int line) { lines.emplace(std::move(path), first_line + line); };
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) continue;
  } catch (const Bad&) {
    return {};
  } catch (const YAML::Exception&) {
    return {};
  }
  return lines;
}

}  // namespace tutti::sim
