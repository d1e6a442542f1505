// SPDX-License-Identifier: Apache-2.0
// sim/objects/yaml_simple.h - the plain part of YAML that most manifests keep to, read in one walk.
//
// Maps and lists by indentation, flow maps and lists on one line, scalars on one line without escapes, ASCII, comments
// on lines of their own. A general reader takes ten times as long.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/objects/object.h"
#include "sim/objects/recent.h"

namespace tutti::sim {

struct SimpleYaml {
  Json value;
  int line = 0;  // of its first content, counted from 0
};

// What the lines below a key of the outermost map say, such as a pod's spec: documents of one template share it.
struct YamlBlock {
  std::string text;
  Json value;  // frozen
};
using YamlBlocks = Recent<YamlBlock>;

// One document. Empty: it is not of that part of YAML, or not right; the general reader knows. `blocks` has those of
// the documents before; it may be null.
std::optional<SimpleYaml> ReadSimpleYaml(std::string_view text, YamlBlocks* blocks = nullptr);

}  // namespace tutti::sim
