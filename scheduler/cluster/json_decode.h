// SPDX-License-Identifier: Apache-2.0
// Kubernetes objects as JSON → model values.
//
// Pure functions, safe on any thread. They read what scheduling needs and nothing else: unknown fields are fine, and
// defaults that the API server sets (requests from limits) are set here too, for objects that never saw one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "model/node.h"
#include "model/object.h"
#include "model/pod.h"
#include "model/resource_list.h"
#include "model/selection.h"

namespace tutti::cluster {

// Error kInvalid names the first field that could not be read and what is wrong with it:
// "spec.containers[0].resources.requests.cpu: \"abc\" is not a quantity; ...".
base::Result<model::Pod> DecodePod(const base::Json& pod);
base::Result<model::Node> DecodeNode(const base::Json& node);
// `kind` says under which plural the object is served; group, version and kind are the object's own.
base::Result<model::Object> DecodeObject(const model::ObjectKind& kind, std::shared_ptr<const base::Json> object);

// The same, for a feed, from which no object may vanish: what is readable, and a line in `problems` for each field that
// is not. Such a pod's spec is `saturated`, so that it is bound nowhere on a misunderstanding.
model::Pod DecodePodLeniently(const base::Json& pod, std::vector<std::string>* problems);
// The same of a pod of which SameSpec(pod, another) holds, `spec` being the other's.
model::Pod DecodePodLeniently(const base::Json& pod, std::shared_ptr<const model::PodSpec> spec,
                              std::vector<std::string>* problems);
// Tells whether two pods certainly have the same PodSpec. True of most that come from one template and are as far.
bool SameSpec(const base::Json& a, const base::Json& b);
// PodSpec::requests alone.
model::ResourceList DecodeRequests(const base::Json& pod);
model::Node DecodeNodeLeniently(const base::Json& node, std::vector<std::string>* problems);
// What pod-level requests and limits become when the pod is created: a resource that they leave out is what its
// containers ask for together, or else its limit (pkg/apis/core/v1/defaults.go). `spec` is a pod's.
struct PodLevelResources {
  model::ResourceList requests, limits;
};
PodLevelResources DefaultPodLevel(const base::Json& spec);

model::Selection DecodeSelection(model::Selection::Kind kind, const base::Json& object,
                                 std::vector<std::string>* problems);

}  // namespace tutti::cluster
