// SPDX-License-Identifier: Apache-2.0
#include "sim/api/json_path.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/json_string.h"

namespace tutti::sim {
namespace {

using Found = std::vector<const Json*>;

Found Members(const Found& from, std::string_view key) {
  Found out;
  for (const Json* each : from) {
    if (key == "*") {
      for (const Json& member : *each) out.push_back(&member);
    } else if (const Json& member = Child(*each, key); !member.is_null()) {
      out.push_back(&member);
    }
  }
  return out;
}

Found Elements(const Found& from, int64_t index) {
  Found out;
  for (const Json* each : from) {
    const int64_t size = int64_t(ArrayOf(*each).size());
    const int64_t at = index < 0 ? size + index : index;
    if (at >= 0 && at < size) out.push_back(&(*each)[size_t(at)]);
  }
  return out;
}

// ?(@.path=="value") or !=; a bare word, a number and true/false compare as they print.
Found Filtered(const Found& from, std::string_view test) {
  const size_t op = std::min(test.find("=="), test.find("!="));
  if (!test.starts_with("@") || op == std::string_view::npos) return {};
  const bool equal = test[op] == '=';
  std::string_view path = test.substr(1, op - 1);
  std::string_view value = test.substr(op + 2);
  while (!path.empty() && path.back() == ' ') path.remove_suffix(1);
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'')) value = value.substr(1, value.size() - 2);
  Found out;
  for (const Json* each : from) {
    for (const Json& item : ArrayOf(*each)) {
      const Found hits = FindPath(item, path);
      const std::string text = hits.empty()           ? ""
                               : hits[0]->is_string() ? hits[0]->get<std::string>()
                                                      : base::PrintJson(*hits[0]);
      if ((text == value) == equal) out.push_back(&item);
    }
  }
  return out;
}

// Returns where the first `end` is that is in no quotes and no inner bracket; npos if there is none.
size_t EndOf(std::string_view text, char end) {
  char quote = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == end && depth == 0) {
      return i;
    } else if (c == '[' || c == '(') {
      ++depth;
    } else if (c == ']' || c == ')') {
      --depth;
    }
  }
  return std::string_view::npos;
}

// Returns what stands before the first such `end`, or else all of `text`, which is moved past both.
std::string_view TakeTo(char end, std::string_view& text) {
  const size_t at = std::min(EndOf(text, end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

Found Bracketed(const Found& from, std::string_view inner) {
  if (inner.size() >= 2 && (inner[0] == '\'' || inner[0] == '"'))
    return Members(from, inner.substr(1, inner.size() - 2));
  if (inner == "*") return Members(from, "*");
  if (inner.starts_with("?(") && inner.ends_with(")")) return Filtered(from, inner.substr(2, inner.size() - 3));
  int64_t index = 0;
  const auto [end, error] = std::from_chars(inner.data(), inner.data() + inner.size(), index);
  if (error != std::errc() || end != inner.data() + inner.size()) return {};
  return Elements(from, index);
}

}  // namespace

std::vector<const Json*> FindPath(const Json& object, std::string_view path) {
  Found found = {&object};
  while (!path.empty() && !found.empty()) {
    if (path[0] == '[') {
      path.remove_prefix(1);
      if (EndOf(path, ']') == std::string_view::npos) return {};
      std::string_view inner = TakeTo(']', path);
      // A union: what each of its parts finds, in their order.
      Found all;
      do {
        const Found part = Bracketed(found, Trimmed(TakeTo(',', inner)));
        all.insert(all.end(), part.begin(), part.end());
      } while (!inner.empty());
      found = std::move(all);
      continue;
    }
    if (path[0] != '.') return {};
    path.remove_prefix(1);
    std::string key;
    while (!path.empty() && path[0] != '.' && path[0] != '[') {
      if (path[0] == '\\' && path.size() > 1) path.remove_prefix(1);  // metadata.labels.a\.b
      key += path[0];
      path.remove_prefix(1);
    }
    if (!key.empty()) found = Members(found, key);
  }
  return found;
}

}  // namespace tutti::sim
