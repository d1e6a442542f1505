// SPDX-License-Identifier: Apache-2.0
// `tutti evaluate`: asks the plugins about one pod on every node, offline. It shows each filter's verdict and reason,
// each score (raw, normalised and weighted), the total, and the summary sentence. It uses no network and writes no
// files.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "framework/profile.h"
#include "sim/manifests/manifest.h"
#include "sim/objects/object.h"

namespace tutti::app {

// Evaluates the pod `ns`/`name`. Nodes are sorted by name; the plugin that kube-scheduler would name is the first of
// `rejectedBy`:
//
//   {apiVersion: tutti.dev/v1alpha1, kind: EvaluationResult,
//    pod, summary, nodes: [{name, feasible, total,
//                           rejectedBy: [{plugin, reasons, resolvable}],
//                           scores: {<Plugin>: {raw, normalized, weighted}}}],
//    preemption: {eligible, message, nominatedNode, victims,
//                 candidates: [{node, victims, pdbViolations}]}}
//
// `preemption` is there when no node takes the pod: which pods of lower priority would be evicted for it, and, as
// `message`, the whole sentence of its FailedScheduling event.
//
// It reads Nodes, Pods and Namespaces, the Services and controllers that select pods, PodDisruptionBudgets, and the
// storage kinds of `objects`. A node that is kept for a waiting pod by its status.nominatedNodeName takes the evaluated
// pod only if it does so beside that pod too, unless that pod's priority is lower. Finished pods and the evaluated pod
// take no room. The profile is that of the pod's spec.schedulerName. Error: kInvalid or kNotFound, for an object that
// cannot be read, a missing pod, or a missing profile.
base::Result<nlohmann::ordered_json> Evaluate(std::vector<sim::Json> objects,
                                              const std::vector<framework::Profile>& profiles, const std::string& ns,
                                              const std::string& name);

// Checks `manifests` as the API server does on creation, and gives pods and nodes their defaults. Leaves out the kinds
// that Evaluate does not read. Error: kInvalid, naming file, document and line.
base::Result<std::vector<sim::Json>> PrepareToEvaluate(std::vector<sim::Manifest> manifests);

// Renders Evaluate's result as text for people.
std::string EvaluationTable(const nlohmann::ordered_json& result);

}  // namespace tutti::app
