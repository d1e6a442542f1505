// SPDX-License-Identifier: Apache-2.0
// sim/objects/yaml.h - YAML to JSON, typed as Kubernetes' own reader types it.
//
// Plain scalars are what base/yaml_scalar.h says, quoted ones always strings, and `<<` merges. Of duplicate keys the
// last one counts, and the first is told.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/objects/object.h"
#include "sim/objects/yaml_simple.h"

namespace tutti::sim {

struct YamlDocument {
  Json value;
  int line = 1;           // of its first content, counted from 1
  std::string duplicate;  // "line 3: the key ... is there twice", or ""
};

// One document of UTF-8, and nothing after it. Errors name the line, counted from `first_line`. `blocks`: as
// ReadSimpleYaml.
base::Result<YamlDocument> ParseYaml(std::string_view text, int first_line = 1, YamlBlocks* blocks = nullptr);
// The same, without the short way of yaml_simple.h. For tests: both ways must say the same.
base::Result<YamlDocument> ParseAnyYaml(std::string_view text, int first_line = 1);

// The lines of the keys of a document that ParseYaml takes: "spec.containers[0].image" to 7. What an alias or << brings
// has no line of its own.
std::map<std::string, int> LinesOfKeys(std::string_view text, int first_line = 1);

}  // namespace tutti::sim
