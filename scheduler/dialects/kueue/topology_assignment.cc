// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/topology_assignment.h"

#include <algorithm>
#include <string_view>

#include "dialects/declaration.h"
#include "dialects/fields.h"

namespace tutti::dialects::kueue {

using base::Json;
using model::HeldQuota;

namespace {

constexpr size_t kMostDomains = 20'000;

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

// The i-th of the values, or of the counts, of a slice: those of all of its domains are alike, or each has its own.
const Json& OfDomain(const Json& values, const char* list, size_t i) {
  if (const Json& all = Field(values, "universal"); !all.is_null()) return all;
  const Json& each = Field(values, "individual");
  const Json& own = list ? ListIn(each, list) : AsList(each);
  static const Json none;
  return i < own.size() ? own[i] : none;
}

// Domains of a slice, until there are kMostDomains.
void ReadSlice(const Json& slice, const std::string& level, std::vector<HeldQuota::Place>* places) {
  const Json& values = ListIn(slice, "valuesPerLevel");
  if (values.empty()) return;
  const Json &narrowest = values.back(), &each = Field(narrowest, "individual");
  const bool alike = !Field(narrowest, "universal").is_null();
  for (int64_t i = 0; i < CountIn(slice, "domainCount") && places->size() < kMostDomains; ++i) {
    const Json &value = OfDomain(narrowest, "roots", i), &count = OfDomain(Field(slice, "podCounts"), nullptr, i);
    if (!value.is_string() || !count.is_number_integer()) return;
    const std::string root = value;
    places->push_back({level, alike ? root : TextIn(each, "prefix") + root + TextIn(each, "suffix"),
                       std::clamp<int64_t>(count.get<int64_t>(), 0, kLargestCount)});
  }
}

}  // namespace

std::vector<HeldQuota::Place> ReadTopologyAssignment(const Json& assignment, const std::set<std::string>& failed) {
  std::vector<HeldQuota::Place> places;
  const Json& levels = ListIn(assignment, "levels");
  if (levels.empty() || !levels.back().is_string()) return places;
  const std::string level = levels.back();
  for (const Json& slice : ListIn(assignment, "slices")) ReadSlice(slice, level, &places);
  if (places.empty())
    for (const Json& domain : ListIn(assignment, "domains"))
      if (const Json& values = ListIn(domain, "values");
          !values.empty() && values.back().is_string() && places.size() < kMostDomains)
        places.push_back({level, values.back(), CountIn(domain, "count")});
  // Each domain once, whatever its author wrote: so its nodes are looked at once.
  std::map<std::string, int64_t> counts;
  for (const HeldQuota::Place& place : places)
    counts[place.value] = std::min(counts[place.value] + place.count, kLargestCount);
  places.clear();
  for (const auto& [value, count] : counts) places.push_back({level, value, count, failed.contains(value)});
  return places;
}

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
