// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/topology_assignment.h"

#include <algorithm>
#include <string_view>

#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/kueue/topologies.h"

namespace tutti::dialects::kueue {

using base::Json;
using model::HeldQuota;

namespace {

constexpr size_t kMostDomains = 20'000, kMostDepth = 64;

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

// One level's value for the i-th domain of a slice; nullopt: it has none.
std::optional<std::string> ValueOf(const Json& values, size_t i) {
  const Json& value = OfDomain(values, "roots", i);
  if (!value.is_string()) return std::nullopt;
  const Json& each = Field(values, "individual");
  const std::string root = value;
  return Field(values, "universal").is_null() ? TextIn(each, "prefix") + root + TextIn(each, "suffix") : root;
}

void Count(std::vector<std::string> domain, int64_t count, Domains* counted) {
  int64_t& all = (*counted)[std::move(domain)];
  all = std::min(all + std::clamp<int64_t>(count, 0, kLargestCount), kLargestCount);
}

// Domains of a slice. `read`: how many have been read, of this slice and others; not more than kMostDomains are.
void ReadSlice(const Json& slice, size_t* read, Domains* counted) {
  const Json& levels = ListIn(slice, "valuesPerLevel");
  if (levels.size() > kMostDepth) return;
  const int64_t count = CountIn(slice, "domainCount");
  for (int64_t i = 0; i < count && *read < kMostDomains; ++i, ++*read) {
    std::vector<std::string> domain;
    for (const Json& values : levels) {
      auto value = ValueOf(values, i);
      if (!value) return;
      domain.push_back(*std::move(value));
    }
    const Json& pods = OfDomain(Field(slice, "podCounts"), nullptr, i);
    if (!pods.is_number_integer()) return;
    Count(std::move(domain), pods.get<int64_t>(), counted);
  }
}

Domains ReadDomains(const Json& assignment) {
  Domains counted;
  size_t read = 0;
  for (const Json& slice : ListIn(assignment, "slices")) ReadSlice(slice, &read, &counted);
  if (!counted.empty()) return counted;
  for (const Json& each : ListIn(assignment, "domains")) {
    std::vector<std::string> domain;
    for (const Json& value : ListIn(each, "values")) domain.push_back(value.is_string() ? value : Json(""));
    if (counted.size() < kMostDomains) Count(std::move(domain), CountIn(each, "count"), &counted);
  }
  return counted;
}

}  // namespace

// Each domain once, whatever its author wrote: so its nodes are looked at once.
std::vector<HeldQuota::Place> ReadTopologyAssignment(const Json& assignment, const std::set<std::string>& failed) {
  std::vector<HeldQuota::Place> places;
  std::vector<std::string> levels;
  for (const Json& level : ListIn(assignment, "levels"))
    if (level.is_string()) levels.push_back(level);
  if (levels.empty()) return places;
  for (const auto& [values, count] : ReadDomains(assignment)) {
    if (values.size() != levels.size()) continue;
    places.push_back({LabelFor(levels), DomainOf(levels, values), count, failed.contains(values.back())});
  }
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
