// SPDX-License-Identifier: Apache-2.0
#include "dialects/tutti_topology.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/topology_annotations.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

constexpr std::ptrdiff_t kMostLevels = 16;  // deeper than any network

}  // namespace

bool ReadTuttiTopology(const model::StringMap& annotations, std::string_view role, model::TopologyRequest* request) {
  request->required = LevelIn(annotations, "tutti.dev/topology-required", request);
  request->slice_level = LevelIn(annotations, "tutti.dev/topology-slice", request);
  request->slice_size = SizeIn(annotations, "tutti.dev/topology-slice-size", request);
  request->balanced = LevelIn(annotations, "tutti.dev/topology-balanced", request);
  std::string_view preferred;
  if (const std::string* value = model::Find(annotations, "tutti.dev/topology-preferred")) preferred = *value;
  if (const auto levels = std::ranges::count(preferred, ',') + 1; levels > kMostLevels) {
    preferred = {};
    request->problem = fmt::format(
        "annotation tutti.dev/topology-preferred: {} levels are more than the {} that are looked at; name fewer",
        levels, kMostLevels);
  }
  while (!preferred.empty()) {
    const size_t comma = std::min(preferred.find(','), preferred.size());
    const model::StringMap one{{"tutti.dev/topology-preferred", std::string(preferred.substr(0, comma))}};
    if (std::string level = LevelIn(one, one[0].first, request); !level.empty())
      request->preferred.push_back(std::move(level));
    preferred.remove_prefix(std::min(comma + 1, preferred.size()));
  }
  if (request->empty() && request->problem.empty() && request->slice_size == 0) return false;
  if (request->problem.empty() && request->slice_level.empty() != (request->slice_size == 0))
    request->problem = "annotations tutti.dev/topology-slice and tutti.dev/topology-slice-size go together; write both";
  const std::string scope = Annotation(annotations, "tutti.dev/topology-scope");
  request->each_role = scope == "role";
  if (request->each_role)
    request->subset = fmt::format("tutti/{}", role);
  else if (scope.empty() || scope == "gang")
    request->subset = "tutti";
  else if (request->problem.empty())
    request->problem =
        OneLine(fmt::format("annotation tutti.dev/topology-scope: {} is neither gang nor role", Named(scope)));
  return true;
}

}  // namespace tutti::dialects
