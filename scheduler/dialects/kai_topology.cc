// SPDX-License-Identifier: Apache-2.0
#include "dialects/kai_topology.h"

#include <fmt/format.h>

#include "dialects/topology_annotations.h"

namespace tutti::dialects {

bool ReadKaiTopology(const model::StringMap& annotations, std::string_view role, model::TopologyRequest* request) {
  request->required = LevelIn(annotations, "kai.scheduler/topology-required-placement", request);
  if (std::string level = LevelIn(annotations, "kai.scheduler/topology-preferred-placement", request); !level.empty())
    request->preferred.push_back(std::move(level));
  request->subset = "kai";
  // Segments are a template's; one that is only preferred is not asked for.
  request->slice_level = LevelIn(annotations, "kai.scheduler/segment-topology-required-placement", request);
  if (!request->slice_level.empty()) {
    request->slice_size = SizeIn(annotations, "kai.scheduler/segment-size", request);
    request->subset = fmt::format("kai/{}", role);
    if (request->problem.empty() && request->slice_size == 0)
      request->problem =
          "annotation kai.scheduler/segment-topology-required-placement needs kai.scheduler/segment-size; write both";
  }
  return !request->empty() || !request->problem.empty();
}

}  // namespace tutti::dialects
