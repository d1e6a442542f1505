// SPDX-License-Identifier: Apache-2.0
// `tutti evaluate`: one pod against every node, offline: each filter's verdict and reason, each score raw, normalised
// and weighted, the total, and the summary sentence. No network, no files written.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "framework/profile.h"
#include "sim/manifests/manifest.h"
#include "sim/objects/object.h"

namespace tutti::app {

// For the pod `ns`/`name`, nodes by name, first in `rejected_by` whom upstream would name:
//
//   {apiVersion: tutti.dev/v1alpha1, kind: EvaluationResult,
//    pod, summary, nodes: [{name, feasible, total,
//                           rejected_by: [{plugin, reasons, resolvable}],
//                           scores: {<Plugin>: {raw, normalized, weighted}}}]}
//
// Of `objects` it reads Nodes, Pods and Namespaces, the Services and controllers that select pods, and the storage
// kinds. Pods that are done take no room, and neither does the asked pod. It is asked about under its
// spec.schedulerName's profile. Error kInvalid or kNotFound: an object that cannot be read, no such pod, no such
// profile.
base::Result<nlohmann::ordered_json> Evaluate(std::vector<sim::Json> objects,
                                              const std::vector<framework::Profile>& profiles, const std::string& ns,
                                              const std::string& name);

// What the API server would make of `manifests` that Evaluate reads: checked as when they are created, pods and nodes
// with their defaults; the other kinds are left out. Error: kInvalid, naming file, document and line.
base::Result<std::vector<sim::Json>> PrepareToEvaluate(std::vector<sim::Manifest> manifests);

// Its result for people.
std::string EvaluationTable(const nlohmann::ordered_json& result);

}  // namespace tutti::app
