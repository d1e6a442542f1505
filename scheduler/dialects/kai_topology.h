// SPDX-License-Identifier: Apache-2.0
// KAI's annotations kai.scheduler/topology-required-placement and -preferred-placement (its docs/topology): about all
// of a workload; segment-size and segment-topology-required-placement (its docs/topology/segments): every so many
// members of a role in one domain, whichever they are. The levels' order, which its Topology object gives, is not
// needed: a level is a label key here.
#pragma once

#include <string_view>

#include "model/object_meta.h"
#include "model/topology.h"

namespace tutti::dialects {

// False when none of these annotations is there.
bool ReadKaiTopology(const model::StringMap& annotations, std::string_view role, model::TopologyRequest* request);

}  // namespace tutti::dialects
