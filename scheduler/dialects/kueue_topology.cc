// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue_topology.h"

#include <fmt/format.h>

#include "dialects/topology_annotations.h"

namespace tutti::dialects {

bool ReadKueueTopology(const model::StringMap& annotations, std::string_view role, model::TopologyRequest* request) {
  request->required = LevelIn(annotations, "kueue.x-k8s.io/podset-required-topology", request);
  if (std::string level = LevelIn(annotations, "kueue.x-k8s.io/podset-preferred-topology", request); !level.empty())
    request->preferred.push_back(std::move(level));
  request->slice_level = LevelIn(annotations, "kueue.x-k8s.io/podset-slice-required-topology", request);
  request->slice_size = SizeIn(annotations, "kueue.x-k8s.io/podset-slice-size", request);
  // podset-unconstrained-topology asks for nothing that is not always done.
  if (request->empty() && request->problem.empty() && request->slice_size == 0) return false;
  if (request->problem.empty() && request->slice_level.empty() != (request->slice_size == 0))
    request->problem =
        "annotations kueue.x-k8s.io/podset-slice-required-topology and kueue.x-k8s.io/podset-slice-size go together; "
        "write both";
  if (request->problem.empty() && !request->required.empty() && !request->preferred.empty())
    request->problem =
        "annotations kueue.x-k8s.io/podset-required-topology and kueue.x-k8s.io/podset-preferred-topology exclude each "
        "other; "
        "take one out";
  const std::string group = Annotation(annotations, "kueue.x-k8s.io/podset-group-name");
  request->subset = group.empty() ? fmt::format("kueue/{}", role) : fmt::format("kueue//{}", group);
  return true;
}

}  // namespace tutti::dialects
