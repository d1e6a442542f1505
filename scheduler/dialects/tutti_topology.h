// SPDX-License-Identifier: Apache-2.0
// Our own words: annotations tutti.dev/topology-* on pods, or on the object that declares a gang.
//
//   tutti.dev/topology-required: LEVEL      all in one domain of the level, which is a label key of nodes
//   tutti.dev/topology-preferred: LEVELS    better in one of these; comma-separated, the narrowest first
//   tutti.dev/topology-slice: LEVEL         every tutti.dev/topology-slice-size members in one domain
//   tutti.dev/topology-balanced: LEVEL      in parts that differ by one at most, over as few domains as hold them
//   tutti.dev/topology-scope: gang | role   of a pod: whether all that ask stand together, or each role for itself
#pragma once

#include <string_view>

#include "model/object_meta.h"
#include "model/topology.h"

namespace tutti::dialects {

// False when none of these annotations is there.
bool ReadTuttiTopology(const model::StringMap& annotations, std::string_view role, model::TopologyRequest* request);

}  // namespace tutti::dialects
