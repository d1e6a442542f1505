// SPDX-License-Identifier: Apache-2.0
// Where the members of a pod set have places, as a Workload's status says it: in domains of its flavor's topology.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/gang_ask.h"
#include "model/object_meta.h"

namespace tutti::dialects::kueue {

// The labels of each node, by its name.
using NodeLabels = absl::flat_hash_map<std::string, model::Shared<model::StringMap>>;

// The value of podSetAssignments[].topologyAssignment for members on these nodes, in the fields of both versions; where
// the narrowest level is the node itself, that one level is named. `levels`: label keys, the widest first. Null: a node
// is not known, or lacks a label.
base::Json TopologyAssignment(const std::vector<std::string>& levels, const std::map<std::string, int64_t>& nodes,
                              const NodeLabels& labels);

// Reads such a value, of either version: so many members in each domain of the narrowest level. Those of the values in
// `failed` are marked. What is no such value is left out.
std::vector<model::HeldQuota::Place> ReadTopologyAssignment(const base::Json& assignment,
                                                            const std::set<std::string>& failed);

}  // namespace tutti::dialects::kueue
