// SPDX-License-Identifier: Apache-2.0
// Topologies: Kueue's objects that say which labels of nodes are levels, the widest first.
//
// A domain is known by those around it: rack r of block a is another than rack r of block b. So for each level below
// the first, nodes get a label with the values of all levels down to it. The node itself needs none.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/node.h"
#include "model/object.h"
#include "model/object_meta.h"

namespace tutti::dialects::kueue {

// The narrowest level that a Topology may have: the node itself.
inline constexpr std::string_view kHostname = "kubernetes.io/hostname";

// The label for the last of these levels.
std::string LabelFor(std::span<const std::string> levels);
// Its value for nodes with these values of the levels.
std::string DomainOf(std::span<const std::string> levels, const std::vector<std::string>& values);
// The levels that a label is for; nullopt: it is another's.
std::optional<std::vector<std::string>> LevelsOf(std::string_view label);

class Topologies {
 public:
  // False when it says what it has said before.
  bool Put(const model::Object& topology);
  bool Drop(std::string_view name);

  // Null: there is none of the name.
  const std::vector<std::string>* Find(std::string_view name) const;
  // The label of the level for nodes under one of these Topologies. Where they disagree, or none has it, the level.
  std::string LabelIn(const std::set<std::string>& names, const std::string& level) const;
  // In O(levels of all Topologies).
  void AddLabels(const model::Node& node, model::StringMap* labels) const;

 private:
  using Levels = std::vector<std::string>;
  std::map<std::string, Levels, std::less<>> topologies_;  // by name
};

}  // namespace tutti::dialects::kueue
