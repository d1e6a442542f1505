// SPDX-License-Identifier: Apache-2.0
// Scenario: one test as data. README.md in this folder describes the format.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/objects/object.h"

namespace tutti::scenarios {

struct Scenario {
  std::string name;
  std::string where;  // "tests/scenarios/gangs/order.yaml:12"
  sim::Json content;  // the whole document
};

// Returns all scenarios of a file, or of every *.yaml below a folder, sorted by path. Errors name the file and the
// line: not YAML, a document without a name, two of the same name, no step that expects anything, or an unknown word.
base::Result<std::vector<Scenario>> LoadScenarios(const std::string& path);

}  // namespace tutti::scenarios
