// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/topologies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "dialects/kueue/specs.h"

namespace tutti::dialects::kueue {
namespace {

// Two slashes: the API server takes no such label on a node.
constexpr std::string_view kLevels = "kueue.x-k8s.io/levels/";

bool IsKnownAlone(std::span<const std::string> levels) { return levels.size() == 1 || levels.back() == kHostname; }

}  // namespace

std::string LabelFor(std::span<const std::string> levels) {
  return IsKnownAlone(levels) ? levels.back() : fmt::format("{}{}", kLevels, fmt::join(levels, ","));
}

std::string DomainOf(std::span<const std::string> levels, const std::vector<std::string>& values) {
  return IsKnownAlone(levels) ? values.back() : fmt::format("{}", fmt::join(values, ","));
}

std::optional<std::vector<std::string>> LevelsOf(std::string_view label) {
  if (!label.starts_with(kLevels) || label.size() == kLevels.size()) return std::nullopt;
  std::vector<std::string> levels;
  for (const auto part : std::views::split(label.substr(kLevels.size()), ','))
    levels.emplace_back(part.begin(), part.end());
  return levels;
}

bool Topologies::Put(const model::Object& topology) {
  Levels levels = ReadLevels(topology);
  const auto [at, fresh] = topologies_.try_emplace(topology.meta.name);
  if (!fresh && at->second == levels) return false;
  at->second = std::move(levels);
  return true;
}

bool Topologies::Drop(std::string_view name) { return topologies_.erase(std::string(name)) > 0; }

const std::vector<std::string>* Topologies::Find(std::string_view name) const {
  const auto at = topologies_.find(name);
  return at == topologies_.end() ? nullptr : &at->second;
}

std::string Topologies::LabelIn(const std::set<std::string>& names, const std::string& level) const {
  std::set<std::string> labels;
  for (const std::string& name : names)
    if (const Levels* levels = Find(name))
      if (const auto at = std::ranges::find(*levels, level); at != levels->end())
        labels.insert(LabelFor({levels->begin(), at + 1}));
  return labels.size() == 1 ? *labels.begin() : level;
}

void Topologies::AddLabels(const model::Node& node, model::StringMap* labels) const {
  std::map<std::string, std::string> added;
  for (const auto& [name, levels] : topologies_) {
    std::vector<std::string> values;
    for (size_t i = 0; i < levels.size(); ++i) {
      const std::string* value = model::Find(node.meta.labels, levels[i]);
      if (!value) break;
      values.push_back(*value);
      const std::span down_to(levels.begin(), i + 1);
      if (!IsKnownAlone(down_to)) added.emplace(LabelFor(down_to), DomainOf(down_to, values));
    }
  }
  if (added.empty()) return;
  labels->insert(labels->end(), added.begin(), added.end());
  std::ranges::sort(*labels);
}

}  // namespace tutti::dialects::kueue
