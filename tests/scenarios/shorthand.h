// SPDX-License-Identifier: Apache-2.0
// Shorthand: the short forms of nodes and pods, written out as manifests.
#pragma once

#include <vector>

#include "sim/objects/object.h"

namespace tutti::scenarios {

// Returns the objects of each entry of the map `nodes` (`pods`): one, or as many as its `count` says.
std::vector<sim::Json> ExpandNodes(const sim::Json& nodes);
std::vector<sim::Json> ExpandPods(const sim::Json& pods);

// "ns/name" or "name", in "default".
struct ObjectName {
  std::string ns, name;
};
ObjectName SplitName(const std::string& text);

}  // namespace tutti::scenarios
