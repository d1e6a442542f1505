// SPDX-License-Identifier: Apache-2.0
// sim/nodes/node_shape.h - what a node pool's nodes look like, and how many of them hold some pods.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/resource_list.h"
#include "sim/objects/object.h"

namespace tutti::sim {

// The annotation of a shape that says how many nodes of it there may be.
inline constexpr const char* kMostNodesAnnotation = "sim.tutti.dev/most";

struct NodeShape {
  Json manifest;  // a Node with both amounts; the names of the nodes that are made begin with its name
  model::ResourceList allocatable;  // with "pods"
  std::vector<model::Taint> taints;
  model::StringMap labels;
  int64_t most = 1000;
};

// Error kInvalid: it is no Node with a name and with amounts in status.allocatable or status.capacity.
base::Result<NodeShape> ParseNodeShape(Json manifest);

// Equal pods that are to run at the same time.
struct PodDemand {
  std::string name;  // for messages
  model::Pod pod;
  int64_t count = 0;
};

// Returns how many empty nodes of `shape` hold all pods, packed in the given order, each pod on the first node with
// room. Error kInvalid: a node of this shape holds none of some pods, or more than shape.most nodes are needed.
base::Result<int64_t> NodesFor(const NodeShape& shape, const std::vector<PodDemand>& demands);

}  // namespace tutti::sim
