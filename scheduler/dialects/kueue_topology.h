// SPDX-License-Identifier: Apache-2.0
// Kueue's annotations on the pods of a pod set (kueue.x-k8s.io/podset-*-topology; its KEP 2724). A pod set is a role;
// pod sets of one podset-group-name stand together.
#pragma once

#include <string_view>

#include "model/object_meta.h"
#include "model/topology.h"

namespace tutti::dialects {

// False when none of these annotations is there.
bool ReadKueueTopology(const model::StringMap& annotations, std::string_view role, model::TopologyRequest* request);

}  // namespace tutti::dialects
