// SPDX-License-Identifier: Apache-2.0
// KAI's annotations kai.scheduler/topology-required-placement and -preferred-placement (its docs/topology): about all
// of a workload. The levels' order, which its Topology object gives, is not needed: a level is a label key here.
#pragma once

#include "model/object_meta.h"
#include "model/topology.h"

namespace tutti::dialects {

// False when none of these annotations is there.
bool ReadKaiTopology(const model::StringMap& annotations, model::TopologyRequest* request);

}  // namespace tutti::dialects
