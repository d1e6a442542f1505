// SPDX-License-Identifier: Apache-2.0
// sim/objects/yaml_simple.h - the plain part of YAML that most manifests keep to, read in one walk.
//
// Maps and lists by indentation, flow maps and lists on one line, scalars on one line without escapes, ASCII, comments
// on lines of their own. A general reader takes ten times as long.
#pragma once

#include <optional>
#include <string_view>

#include "sim/objects/object.h"

namespace tutti::sim {

struct SimpleYaml {
  Json value;
  int line = 0;  // of its first content, counted from 0
};

// One document. Empty: it is not of that part of YAML, or not right; the general reader knows.
std::optional<SimpleYaml> ReadSimpleYaml(std::string_view text);

}  // namespace tutti::sim
