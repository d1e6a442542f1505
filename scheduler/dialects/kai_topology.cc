// SPDX-License-Identifier: Apache-2.0
#include "dialects/kai_topology.h"

#include "dialects/topology_annotations.h"

namespace tutti::dialects {

bool ReadKaiTopology(const model::StringMap& annotations, model::TopologyRequest* request) {
  request->required = LevelIn(annotations, "kai.scheduler/topology-required-placement", request);
  if (std::string level = LevelIn(annotations, "kai.scheduler/topology-preferred-placement", request); !level.empty())
    request->preferred.push_back(std::move(level));
  request->subset = "kai";
  return !request->empty() || !request->problem.empty();
}

}  // namespace tutti::dialects
