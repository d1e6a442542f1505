// SPDX-License-Identifier: Apache-2.0
#include "cluster/json_text.h"

#include <algorithm>

#include "base/json.h"

namespace tutti::cluster {

size_t JsonDepth(std::string_view text) {
  size_t depth = 0, deepest = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '[':
      case '{': deepest = std::max(deepest, ++depth); break;
      case ']':
      case '}': depth -= depth > 0; break;
      case '"':
        for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
        break;
      default: break;
    }
  }
  return deepest;
}

base::Json ParseJson(std::string_view text) {
  using Json = base::Json;
  if (JsonDepth(text) <= kDeepestJson) return Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto keep = [](int depth, Json::parse_event_t, Json&) { return static_cast<size_t>(depth) < kDeepestJson; };
  return Json::parse(text, keep, /*allow_exceptions=*/false);
}

}  // namespace tutti::cluster
