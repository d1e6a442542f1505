// SPDX-License-Identifier: Apache-2.0
// What annotations say about topology, in the words of each ecosystem that has such annotations. Unlike gangs and
// queues they may be on the pods, or objects, of any dialect.
#pragma once

#include <memory>
#include <string_view>

#include "model/object_meta.h"
#include "model/pod.h"
#include "model/topology.h"

namespace tutti::dialects {

// What the pod asks for; null: nothing. `role` is the pod's in its gang.
std::shared_ptr<const model::TopologyRequest> TopologyOfPod(const model::Pod& pod, std::string_view role);

// What the annotations of the object that declares a gang ask for all of it.
model::TopologyRequest TopologyOfGang(const model::StringMap& annotations);

// Reading one annotation, for the files of the ecosystems. "" when absent.
std::string Annotation(const model::StringMap& annotations, std::string_view key);
// A label key, or "" and a problem in `request`.
std::string LevelIn(const model::StringMap& annotations, std::string_view key, model::TopologyRequest* request);
// A whole number from 1, or 0 and, where there is anything, a problem in `request`.
int64_t SizeIn(const model::StringMap& annotations, std::string_view key, model::TopologyRequest* request);

}  // namespace tutti::dialects
