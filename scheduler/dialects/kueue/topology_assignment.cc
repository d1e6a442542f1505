// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/topology_assignment.h"

#include <string_view>

namespace tutti::dialects::kueue {

using base::Json;

namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";

using Domains = std::map<std::vector<std::string>, int64_t>;  // members by the domain's values

// One slice: v1beta2's form of domains that need not look alike.
Json SliceOf(const Domains& domains, size_t levels) {
  Json counts = Json::array(), values = Json::array();
  for (size_t level = 0; level < levels; ++level) {
    Json roots = Json::array();
    for (const auto& [domain, count] : domains) roots.push_back(domain[level]);
    values.push_back({{"individual", {{"roots", std::move(roots)}}}});
  }
  for (const auto& [domain, count] : domains) counts.push_back(count);
  return {{"domainCount", domains.size()},
          {"podCounts", {{"individual", std::move(counts)}}},
          {"valuesPerLevel", std::move(values)}};
}

}  // namespace

Json TopologyAssignment(const std::vector<std::string>& levels, const std::map<std::string, int64_t>& nodes,
                        const NodeLabels& labels) {
  if (levels.empty() || nodes.empty()) return nullptr;
  const std::vector<std::string> named = levels.back() == kHostname ? std::vector{levels.back()} : levels;
  Domains domains;
  for (const auto& [node, count] : nodes) {
    const auto of = labels.find(node);
    if (of == labels.end()) return nullptr;
    std::vector<std::string> domain;
    for (const std::string& level : named) {
      const std::string* value = model::Find(of->second, level);
      if (!value) return nullptr;
      domain.push_back(*value);
    }
    domains[domain] += count;
  }
  Json listed = Json::array();
  for (const auto& [domain, count] : domains) listed.push_back({{"values", domain}, {"count", count}});
  return {{"levels", named}, {"slices", Json::array({SliceOf(domains, named.size())})}, {"domains", std::move(listed)}};
}

}  // namespace tutti::dialects::kueue
